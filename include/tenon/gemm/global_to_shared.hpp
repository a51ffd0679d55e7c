// Copies of operand slabs from global to shared memory by cp.async, with zeros for what lies outside the matrix.
//
// A slab is cut into 16-byte chunks, a chunk a thread at a time. Full16 needs every chunk aligned: base and leading
// dimension multiples of 16 bytes. AnyAlignment looks at its operand once and takes the widest way that it allows:
// 16-byte copies, four 4-byte copies, or eight element loads and an ordinary store (cp.async has nothing below 4
// bytes). Below: shared/tile.hpp, ptx/cp_async.hpp.
#pragma once

#include "tenon/ptx/cp_async.hpp"
#include "tenon/shared/bank_conflicts.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

// An operand of 16-bit elements in global memory, as lines of contiguous columns: A row-major has m lines of k columns.
struct GlobalLines {
  const std::uint16_t* data;
  std::int64_t ld;  // elements between lines
  int lines, columns;
};

enum class Alignment { full_16, any };

// The share of one thread in copying slabs of Tile, for a block of `Threads`.
template <class Tile, int Threads, Alignment alignment>
class SlabCopy {
  static constexpr int chunks_per_line = Tile::line_bytes / chunk_bytes;  // within a panel
  static constexpr int chunks = Tile::bytes / chunk_bytes;
  static_assert(chunks % Threads == 0, "SlabCopy: the block's threads must divide the slab's 16-byte chunks");
  static_assert(Threads % chunks_per_line == 0, "SlabCopy: the block's threads must fill whole lines");
  static constexpr int elements = chunk_bytes / 2;

 public:
  static constexpr int count = chunks / Threads;  // chunks a thread

  // first_line: where the block's tile begins along the lines (k_major) or along the columns (otherwise).
  __device__ __forceinline__ SlabCopy(const GlobalLines& from, int tile_start, int thread)
      : from_(from), tile_start_(tile_start), line_(thread / chunks_per_line),
        column_(thread % chunks_per_line * elements) {
    if constexpr (alignment == Alignment::any) {
      const auto low_bits = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from.data)) |
                            static_cast<unsigned>(from.ld * 2);
      width_ = low_bits % 16 == 0 ? 16 : low_bits % 4 == 0 ? 4 : 2;
    }
  }

  // Chunk i of this thread (0 <= i < count) of the slab that begins at k, into the tile at tile_base.
  __device__ __forceinline__ void copy(std::uint32_t tile_base, int k, int i) const {
    constexpr int lines_per_turn = Threads / chunks_per_line;
    constexpr int turns_per_panel = Tile::lines / lines_per_turn;
    static_assert(Tile::lines % lines_per_turn == 0, "SlabCopy: a turn of the block must not cross panels");
    const int panel = i / turns_per_panel;
    const int line = line_ + i % turns_per_panel * lines_per_turn;
    const int column = column_ + panel * Tile::panel_columns;
    const std::uint32_t to = tile_base + static_cast<std::uint32_t>(Tile::offset(line, column));
    const int global_line = line + (Tile::k_major ? tile_start_ : k);
    const int global_column = column + (Tile::k_major ? k : tile_start_);
    const int inside = global_line < from_.lines ? from_.columns - global_column : 0;  // elements of the chunk, if 1..7
    const std::uint16_t* source = from_.data + (global_line * from_.ld + global_column);
    if (alignment == Alignment::full_16 || width_ == 16) {
      const int bytes = inside >= elements ? chunk_bytes : inside > 0 ? 2 * inside : 0;
      // With 0 bytes nothing is read, but the address must still be one of the matrix.
      ptx::cp_async_cg_shared_global_16(to, inside > 0 ? source : from_.data, static_cast<std::uint32_t>(bytes));
    } else {
      copy_narrow(to, source, inside);
    }
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
  __device__ __forceinline__ void copy_narrow(std::uint32_t to, const std::uint16_t* source, int inside) const {
    if (width_ == 4) {
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const int left = inside - 2 * word;
        const int bytes = left >= 2 ? 4 : left == 1 ? 2 : 0;
        ptx::cp_async_ca_shared_global_4(to + 4 * word, left > 0 ? source + 2 * word : from_.data,
                                         static_cast<std::uint32_t>(bytes));
      }
    } else {
      std::uint32_t words[4] = {};
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        if (e < inside) words[e / 2] |= static_cast<std::uint32_t>(source[e]) << e % 2 * 16;
      }
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                   "r"(words[3])
                   : "memory");
    }
  }

  GlobalLines from_;
  int tile_start_, line_, column_;
  int width_ = 16;  // bytes that every chunk's address allows
};

}  // namespace tenon
