// Copies of operand slabs from global to shared memory by cp.async, with zeros for what lies outside the
// matrix.
//
// A slab is cut into 16-byte chunks, a chunk a thread at a time. Alignment::full_16 needs every chunk
// aligned: base and leading dimension multiples of 16 bytes. Alignment::any looks at its operand once and
// takes the widest way that it allows: 16-byte copies, four 4-byte copies, or eight element loads and an
// ordinary store (cp.async has nothing below 4 bytes). Below: shared/tile.hpp, ptx/cp_async.hpp.
#pragma once

#include "tenon/ptx/cp_async.hpp"
#include "tenon/shared/bank_conflicts.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

// An operand of 16-bit elements in global memory, as lines of contiguous columns: A row-major has m lines of
// k columns.
struct GlobalLines {
  const std::uint16_t* data;
  std::int64_t ld;  // elements between lines
  int lines, columns;
};

enum class Alignment { full_16, any };

// The share of one thread in copying the slabs of Tile, one after the other along k, for a block of
// `Threads`.
//
// All that changes from slab to slab is one pointer and one count, so that the copies cost the main loop
// little more than themselves. Slabs that lie wholly inside the matrix take copies without a byte count,
// which ptxas makes one instruction; a count costs it five more.
template <class Tile, int Threads, Alignment alignment>
class SlabCopy {
  static constexpr int elements = chunk_bytes / 2;                        // of a chunk
  static constexpr int chunks_per_line = Tile::line_bytes / chunk_bytes;  // within a panel
  static constexpr int lines_per_turn = Threads / chunks_per_line;
  static constexpr int turns_per_panel = Tile::lines / lines_per_turn;
  static_assert(Threads % chunks_per_line == 0 && Tile::lines % lines_per_turn == 0,
                "SlabCopy: the block's threads must fill whole lines, and their turns whole panels");
  static_assert(lines_per_turn % 8 == 0,
                "SlabCopy: the swizzle repeats every 8 lines; a turn must be a multiple");

 public:
  static constexpr int count = Tile::panels * turns_per_panel;  // chunks a thread and slab

  // Stands at the slab that begins at k = 0. tile_start: where the block's tile begins along m (or n).
  __device__ __forceinline__ SlabCopy(const GlobalLines& from, int tile_start, int thread) {
    const int line = thread / chunks_per_line, column = thread % chunks_per_line * elements;
    const int first_line = line + (Tile::k_major ? tile_start : 0);
    const int first_column = column + (Tile::k_major ? 0 : tile_start);
    to_ = static_cast<std::uint32_t>(Tile::offset(line, column));
    source_ = from.data + (first_line * from.ld + first_column);
    turn_ = lines_per_turn * from.ld;
    slab_ = Tile::k_major ? Tile::depth : Tile::depth * from.ld;
    lines_left_ = from.lines - first_line;
    columns_left_ = from.columns - first_column;
    k_left_ = Tile::k_major ? from.columns : from.lines;
    extent_inside_ = tile_start + Tile::extent <= (Tile::k_major ? from.lines : from.columns);
    if constexpr (alignment == Alignment::any) {
      const auto low_bits = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from.data)) |
                            static_cast<unsigned>(from.ld * 2);
      width_ = low_bits % 16 == 0 ? 16 : low_bits % 4 == 0 ? 4 : 2;
    }
  }

  // Whether the whole slab lies inside the matrix and its chunks are aligned: copy<true> may then be used.
  __device__ __forceinline__ bool whole() const {
    return (alignment == Alignment::full_16 || width_ == 16) && extent_inside_ && k_left_ >= Tile::depth;
  }

  // Chunk i of this thread, 0 <= i < count, into the tile at tile_base.
  template <bool whole>
  __device__ __forceinline__ void copy(std::uint32_t tile_base, int i) const {
    const int panel = i / turns_per_panel, turn = i % turns_per_panel;
    const std::uint32_t to =
        tile_base + to_ +
        static_cast<std::uint32_t>(panel * Tile::panel_bytes + turn * lines_per_turn * Tile::line_bytes);
    const std::uint16_t* const source = source_ + (turn * turn_ + panel * Tile::panel_columns);
    if constexpr (whole) {
      ptx::cp_async_cg_shared_global_16(to, source);
    } else {
      copy_part(to, source, inside(panel, turn));
    }
  }

  // On to the next slab.
  __device__ __forceinline__ void advance() {
    source_ += slab_;
    k_left_ -= Tile::depth;
    (Tile::k_major ? columns_left_ : lines_left_) -= Tile::depth;
  }

  // Wavefronts beyond the least when a warp writes its chunks. Kernels assert that there are none.
  TENON_HOST_DEVICE static constexpr int conflicts() {
    LaneAddresses address{};
    for (int lane = 0; lane < 32; ++lane) {
      address.at[lane] = Tile::offset(lane / chunks_per_line, lane % chunks_per_line * elements);
    }
    return bank_conflicts(address, chunk_bytes);
  }

 private:
  // How many elements of a chunk lie inside the matrix.
  __device__ __forceinline__ int inside(int panel, int turn) const {
    const int left = turn * lines_per_turn < lines_left_ ? columns_left_ - panel * Tile::panel_columns : 0;
    return left < 0 ? 0 : left < elements ? left : elements;
  }

  // The first `inside` elements of a chunk, and zeros for the rest. Copies are full or empty: a cp.async cut
  // short is right, but memory checkers take it for a read of its full width, past the end of the matrix.
  __device__ __forceinline__ void copy_part(std::uint32_t to, const std::uint16_t* source, int inside) const {
    if (inside % elements == 0 && width_ == 16) {
      ptx::cp_async_cg_shared_global_16(to, source, static_cast<std::uint32_t>(2 * inside));
    } else if (inside % 2 == 0 && width_ >= 4) {
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        ptx::cp_async_ca_shared_global_4(to + 4 * word, source + 2 * word, 2 * word < inside ? 4U : 0U);
      }
    } else {
      std::uint32_t words[4] = {};
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        if (e < inside) words[e / 2] |= static_cast<std::uint32_t>(source[e]) << e % 2 * 16;
      }
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]),
                   "r"(words[2]), "r"(words[3])
                   : "memory");
    }
  }

  const std::uint16_t* source_;    // this thread's first chunk of the slab
  std::int64_t turn_, slab_;       // elements to the next turn, to the next slab
  std::uint32_t to_;               // byte offset in the tile
  int lines_left_, columns_left_;  // from this thread's first chunk to the matrix's end
  int k_left_;                     // from the slab's beginning
  bool extent_inside_;             // the block's tile does not reach past m (or n)
  int width_ = 16;                 // bytes that every chunk's address allows
};

}  // namespace tenon
