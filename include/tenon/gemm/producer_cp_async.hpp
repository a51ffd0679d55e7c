// The producer of the sm_80 kernels: every thread copies its share of each k-tile from global to shared
// memory by cp.async, with zeros for what lies outside the matrix.
//
// A k-tile is made of 16-byte chunks, one a thread at a time. Alignment::full_16 needs every chunk aligned:
// base and leading dimension multiples of 16 bytes. Alignment::whole_chunks also needs each chunk to lie
// wholly inside or outside the matrix: rows of a multiple of 16 bytes. Alignment::any looks at its operand
// once and takes the widest copies that it allows: 16 bytes, four times 4 bytes (of f64 twice 8), or element
// loads and an ordinary store (cp.async has nothing below 4 bytes). Below: shared/tile.hpp, ptx/cp_async.hpp,
// ptx/st_shared.hpp.
#pragma once

#include "tenon/ptx/cp_async.hpp"
#include "tenon/ptx/st_shared.hpp"
#include "tenon/ptx/standard.hpp"
#include "tenon/shared/bank_conflicts.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

// An operand in global memory, as rows of contiguous columns: A row-major has m rows of k columns, A
// column-major k rows of m.
struct GlobalRows {
  const void* data;
  std::int64_t ld;  // elements between rows
  int rows, columns;
};

enum class Alignment { full_16, any, whole_chunks };

// An unsigned integer of 1, 2, 4 or 8 bytes.
template <int bytes>
using UnsignedOf =
    std::conditional_t<bytes == 1, std::uint8_t,
                       std::conditional_t<bytes == 2, std::uint16_t,
                                          std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

// The share of one thread of `Threads` in copying the k-tiles of Tile, one after the other along k.
//
// All that changes from k-tile to k-tile is one pointer and one count, so that the copies cost the mainloop
// little more than themselves. k-tiles that lie wholly inside the matrix take copies without a byte count,
// which ptxas makes one instruction; a count costs it five more.
template <class Tile, int Threads, Alignment alignment>
class ProducerCpAsync {
  static constexpr int element_bytes = Tile::element_bytes;
  using Word = UnsignedOf<element_bytes>;
  static constexpr int elements = Tile::chunk_elements;                 // of a chunk
  static constexpr int chunks_per_row = Tile::row_bytes / chunk_bytes;  // within a panel
  static constexpr int rows_per_pass = Threads / chunks_per_row;
  static constexpr int passes_per_panel = Tile::rows / rows_per_pass;
  static_assert(Threads % chunks_per_row == 0 && Tile::rows % rows_per_pass == 0,
                "ProducerCpAsync: the CTA's threads must fill whole rows, and their passes whole panels");
  static_assert(rows_per_pass % 8 == 0,
                "ProducerCpAsync: the swizzle repeats every 8 rows; the rows of a pass must be a multiple");

 public:
  static constexpr int count = Tile::panels * passes_per_panel;  // chunks a thread and k-tile

  // Stands at the k-tile that begins at k = 0. tile_start: where the CTA's tile begins along m (or n).
  __device__ __forceinline__ ProducerCpAsync(const GlobalRows& from, int tile_start, int thread) {
    const int row = thread / chunks_per_row, column = thread % chunks_per_row * elements;
    const int first_row = row + (Tile::k_major ? tile_start : 0);
    const int first_column = column + (Tile::k_major ? 0 : tile_start);
    to_ = static_cast<std::uint32_t>(Tile::offset(row, column));
    source_ = static_cast<const Word*>(from.data) + (first_row * from.ld + first_column);
    pass_ = rows_per_pass * from.ld;
    k_tile_ = Tile::k_major ? Tile::depth : Tile::depth * from.ld;
    rows_left_ = from.rows - first_row;
    columns_left_ = from.columns - first_column;
    k_left_ = Tile::k_major ? from.columns : from.rows;
    extent_inside_ = tile_start + Tile::extent <= (Tile::k_major ? from.rows : from.columns);
    if constexpr (alignment == Alignment::any) {
      const auto low_bits = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from.data)) |
                            static_cast<unsigned>(from.ld * element_bytes);
      width_ = low_bits % 16 == 0 ? 16 : low_bits % 4 == 0 ? 4 : element_bytes;
    }
  }

  // Whether the whole k-tile lies inside the matrix and its chunks are aligned: copy<true> may then be used.
  __device__ __forceinline__ bool whole() const {
    return (alignment != Alignment::any || width_ == 16) && extent_inside_ && k_left_ >= Tile::depth;
  }

  // How many k-tiles, from this one on, are whole.
  __device__ __forceinline__ int whole_tiles() const { return whole() ? k_left_ / Tile::depth : 0; }

  // Chunk i of this thread, 0 <= i < count, into the tile at tile_base.
  template <bool whole>
  __device__ __forceinline__ void copy(std::uint32_t tile_base, int i) const {
    const int panel = i / passes_per_panel, pass = i % passes_per_panel;
    const std::uint32_t to =
        tile_base + to_ +
        static_cast<std::uint32_t>(panel * Tile::panel_bytes + pass * rows_per_pass * Tile::row_bytes);
    const Word* const source = source_ + (pass * pass_ + panel * Tile::panel_columns);
    if constexpr (whole) {
      ptx::cp_async_cg_shared_global_16(to, source);
    } else {
      copy_part(to, source, inside(panel, pass));
    }
  }

  // On to the next k-tile.
  __device__ __forceinline__ void advance() {
    source_ += k_tile_;
    k_left_ -= Tile::depth;
    (Tile::k_major ? columns_left_ : rows_left_) -= Tile::depth;
  }

  // Wavefronts beyond the least when a warp writes its chunks. Kernels assert that there are none.
  TENON_HOST_DEVICE static constexpr int conflicts() {
    LaneAddresses address{};
    for (int lane = 0; lane < 32; ++lane) {
      address.at[lane] = Tile::offset(lane / chunks_per_row, lane % chunks_per_row * elements);
    }
    return bank_conflicts(address, chunk_bytes);
  }

 private:
  // How many elements of a chunk lie inside the matrix.
  __device__ __forceinline__ int inside(int panel, int pass) const {
    const int left = pass * rows_per_pass < rows_left_ ? columns_left_ - panel * Tile::panel_columns : 0;
    return left < 0 ? 0 : left < elements ? left : elements;
  }

  // The first `inside` elements of a chunk, and zeros for the rest. Copies are full or empty: a cp.async cut
  // short is right, but memory checkers take it for a read of its full width, past the end of the matrix.
  __device__ __forceinline__ void copy_part(std::uint32_t to, const Word* source, int inside) const {
    if (alignment == Alignment::whole_chunks || (inside % elements == 0 && width_ == 16)) {
      ptx::cp_async_cg_shared_global_16(to, source, static_cast<std::uint32_t>(element_bytes * inside));
    } else if constexpr (element_bytes == 8) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        ptx::cp_async_ca_shared_global_8(to + 8 * e, source + e, e < inside ? 8U : 0U);
      }
    } else if (element_bytes * inside % 4 == 0 && width_ >= 4) {
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        ptx::cp_async_ca_shared_global_4(to + 4 * word, reinterpret_cast<const std::uint32_t*>(source) + word,
                                         4 * word < element_bytes * inside ? 4U : 0U);
      }
    } else if constexpr (element_bytes < 4) {
      constexpr int word_elements = 4 / element_bytes;
      std::uint32_t words[4] = {};
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        if (e < inside) {
          words[e / word_elements] |= static_cast<std::uint32_t>(source[e])
                                      << e % word_elements * 8 * element_bytes;
        }
      }
      ptx::st_shared_v4_b32(to, words);
    }
  }

  const Word* source_;            // this thread's first chunk of the k-tile
  std::int64_t pass_, k_tile_;    // elements to the next pass, to the next k-tile
  std::uint32_t to_;              // byte offset in the tile
  int rows_left_, columns_left_;  // from this thread's first chunk to the matrix's end
  int k_left_;                    // from the k-tile's beginning
  bool extent_inside_;            // the CTA's tile does not reach past m (or n)
  int width_ = 16;                // bytes that every chunk's address allows
};

}  // namespace tenon
