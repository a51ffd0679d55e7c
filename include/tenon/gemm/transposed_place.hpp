// A place in shared memory where warps put accumulators of C^T side by side, as rows of C: boxes of 16 rows,
// up to 128 bytes wide, with the swizzle of that width, which TMA undoes. The warps read it back by rows, or
// store it element by element. Below: store_subtile.hpp, shared/swizzle.hpp, ptx/ld_shared.hpp.
#pragma once

#include "tenon/gemm/epilogue_subtile.hpp"
#include "tenon/gemm/store_subtile.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/shared/swizzle.hpp"

namespace tenon {

// Rows of C in a box, and the bytes of each row: what `warps` warps have of it, at most 128, the widest
// swizzle.
inline constexpr int transposed_box_rows = 16;
// Of a tile of so many rows of C, a multiple of 8: no box reaches into the next tile.
constexpr int transposed_box_rows_of(int rows) {
  return rows % transposed_box_rows == 0 ? transposed_box_rows : transposed_box_rows / 2;
}
TENON_HOST_DEVICE constexpr int transposed_box_width(int warps, int element_bytes) {
  return warps * 16 * element_bytes < 128 ? warps * 16 * element_bytes : 128;
}

// Of Warps warps: a subtile (epilogue_subtile.hpp) of each.
template <int Warps>
struct TransposedPlace {
  static constexpr int bytes = Warps * subtile_bytes;

  // Address of a byte of a row of a place. A row has the elements of all warps that store together.
  template <int element_bytes>
  __device__ __forceinline__ static std::uint32_t address(std::uint32_t place, int row, int byte) {
    constexpr int width = transposed_box_width(Warps, element_bytes),
                  across = Warps * 16 * element_bytes / width;
    const int box = row / transposed_box_rows * across + byte / width, of_box = row % transposed_box_rows;
    const int chunk = swizzled_chunk<width>(of_box, byte % width / chunk_bytes);
    return place + static_cast<std::uint32_t>((box * transposed_box_rows + of_box) * width +
                                              chunk * chunk_bytes + byte % chunk_bytes);
  }

  // Elements first, first + 1, ... of row r of a place in f32.
  template <int count>
  __device__ __forceinline__ static void load_row(std::uint32_t place, int r, int first,
                                                  float (&values)[count]) {
#pragma unroll
    for (int x = 0; x < count; x += 4) {
      float four[4];
      ptx::ld_shared_v4_f32(four, address<4>(place, r, 4 * (first + x)));
#pragma unroll
      for (int i = 0; i < 4; ++i) values[x + i] = four[i];
    }
  }

  // Stores `rows` rows of a place element by element. Called by all threads of the warps that store together.
  template <int element_bytes>
  __device__ __forceinline__ static void store_elements(const Output& c, std::uint32_t place, int row,
                                                        int column, int rows, int thread) {
    using Element = MovedElement<element_bytes>;
    constexpr int columns = 16 * Warps;
#pragma unroll 1
    for (int i = thread; i < rows * columns; i += 32 * Warps) {
      const int r = i / columns, e = i % columns, m = column + r, n = row + e;
      if (m >= c.m || n >= c.n) continue;
      const std::uint32_t from = address<element_bytes>(place, r, e * element_bytes);
      auto* const to = static_cast<Element*>(c.data) + (m * c.ld + n);
      if constexpr (element_bytes == 4) {
        ptx::st_global_b32(to, ptx::ld_shared_b32(from));
      } else {
        ptx::st_global_b16(to, ptx::ld_shared_b16(from));
      }
    }
  }
};

}  // namespace tenon
