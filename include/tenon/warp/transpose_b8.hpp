// The transposition of a tile of 8-bit elements in shared memory, in the orders of
// fragment/interleaved_order.hpp. sm_90. Below: fragment/registers.hpp, ptx/stmatrix.hpp.
#pragma once

#include "tenon/fragment/interleaved_order.hpp"
#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/stmatrix.hpp"

namespace tenon {

// By a whole warp: `blocks` blocks of 32 rows x 16 columns of From, one below the other from (row, column)
// on, to 16 rows of To. Element (r, c) goes to (interleaved_row(c), interleaved_k(r)). row: 0, or where
// `blocks` is a power of two a multiple of 32 * blocks; column: a multiple of 16. From, To: SharedTile.
// Without bank conflicts.
//
// A block costs seven instructions: from block to block the address of the load changes by a constant, and
// that of the store by the bits of a chunk, which the swizzle flips. All blocks are loaded before the first
// is stored.
template <int blocks, class From, class To>
__device__ __forceinline__ void transpose_b8(const From& from, const To& to, int row, int column) {
  static_assert(From::element_bytes == 1 && To::element_bytes == 1,
                "transpose_b8: the elements must have 8 bits");
  const int lane = lane_id();
  const std::uint32_t source = from.address(row + lane, column);
  std::uint32_t pairs[blocks][4];  // of 8 rows each: two columns of two rows
#pragma unroll
  for (int i = 0; i < blocks; ++i)
    ldmatrix<true>(pairs[i], source + static_cast<std::uint32_t>(i * 32 * From::row_bytes));
  // Lane l gives the address of row l % 16, in the 16 columns that its eight lanes' matrix has.
  const std::uint32_t target = to.address(column + lane % 16, row + lane / 16 * 16);
#pragma unroll
  for (int i = 0; i < blocks; ++i) {
    std::uint32_t columns[4];  // even and odd column of the first 16 rows, of the second
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      columns[2 * half] = __byte_perm(pairs[i][2 * half], pairs[i][2 * half + 1], 0x6420);
      columns[2 * half + 1] = __byte_perm(pairs[i][2 * half], pairs[i][2 * half + 1], 0x7531);
    }
    const int column_of_block = 32 * i;  // of To
    ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(
        (target ^ static_cast<std::uint32_t>(column_of_block % To::row_bytes)) +
            static_cast<std::uint32_t>(column_of_block / To::row_bytes * To::panel_bytes),
        columns);
  }
}

}  // namespace tenon
