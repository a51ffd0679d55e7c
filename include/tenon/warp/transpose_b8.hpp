// The transposition of a tile of 8-bit elements in shared memory, in the orders of
// fragment/interleaved_order.hpp. sm_90. Below: fragment/registers.hpp, ptx/stmatrix.hpp.
#pragma once

#include "tenon/fragment/interleaved_order.hpp"
#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/stmatrix.hpp"

namespace tenon {

// By a whole warp: 32 rows x 16 columns of From, from (row, column) on, to 16 rows x 32 columns of To.
// Element (r, c) goes to (interleaved_row(c), interleaved_k(r)). row: a multiple of 32; column: of 16. From,
// To: SharedTile. Without bank conflicts.
template <class From, class To>
__device__ __forceinline__ void transpose_b8(const From& from, const To& to, int row, int column) {
  static_assert(From::element_bytes == 1 && To::element_bytes == 1,
                "transpose_b8: the elements must have 8 bits");
  const int lane = lane_id();
  std::uint32_t pairs[4];  // of 8 rows each: two columns of two rows
  ldmatrix<true>(pairs, from.address(row + lane, column));
  std::uint32_t columns[4];  // even and odd column of the first 16 rows, of the second
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    columns[2 * half] = __byte_perm(pairs[2 * half], pairs[2 * half + 1], 0x6420);
    columns[2 * half + 1] = __byte_perm(pairs[2 * half], pairs[2 * half + 1], 0x7531);
  }
  // Lane l gives the address of row l % 16, in the 16 columns that its eight lanes' matrix has.
  ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(to.address(column + lane % 16, row + lane / 16 * 16),
                                                columns);
}

}  // namespace tenon
