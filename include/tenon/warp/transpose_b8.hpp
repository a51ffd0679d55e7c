// The transposition of a tile of 8-bit elements in shared memory, in the orders of
// fragment/interleaved_order.hpp. sm_90. Below: fragment/registers.hpp, ptx/stmatrix.hpp.
#pragma once

#include "tenon/fragment/interleaved_order.hpp"
#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/stmatrix.hpp"

namespace tenon {

// From, To: SharedTile. Element (r, c) goes to (interleaved_row(c), interleaved_k(r)), without bank
// conflicts. An object holds the two addresses of its lane; a block of 32 x 16 costs seven instructions.
template <class From, class To>
class TransposeB8 {
  static_assert(From::element_bytes == 1 && To::element_bytes == 1,
                "TransposeB8: the elements must have 8 bits");
  static_assert(From::rows <= To::columns && To::rows <= From::columns,
                "TransposeB8: the tiles must have each other's rows as columns");

 public:
  // In the rows of the source, and in the 16 columns of the target that the eight lanes' matrix has.
  __device__ __forceinline__ TransposeB8()
      : source_(static_cast<std::uint32_t>(From::offset(lane_id(), 0))),
        target_(static_cast<std::uint32_t>(To::offset(lane_id() % 16, lane_id() / 16 * 16))) {}

  // By a whole warp: `blocks` blocks of 32 rows x 16 columns of From, one below the other, from block `first`
  // and a column on that is a multiple of 16. All are loaded before the first is stored.
  template <int first, int blocks>
  __device__ __forceinline__ void transpose(const From& from, const To& to, std::uint32_t column) const {
    // A swizzle flips the bits of a chunk, which a multiple of 16 rows does not change.
    const std::uint32_t source =
        from.base + column / From::row_bytes * From::panel_bytes + (source_ ^ column % From::row_bytes);
    const std::uint32_t target = to.base + column * To::row_bytes + target_;
    std::uint32_t pairs[blocks][4];  // of 8 rows each: two columns of two rows
#pragma unroll
    for (int i = 0; i < blocks; ++i)
      ldmatrix<true>(pairs[i], source + static_cast<std::uint32_t>((first + i) * 32 * From::row_bytes));
#pragma unroll
    for (int i = 0; i < blocks; ++i) {
      std::uint32_t columns[4];  // even and odd column of the first 16 rows, of the second
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        columns[2 * half] = __byte_perm(pairs[i][2 * half], pairs[i][2 * half + 1], 0x6420);
        columns[2 * half + 1] = __byte_perm(pairs[i][2 * half], pairs[i][2 * half + 1], 0x7531);
      }
      const int row = 32 * (first + i);  // of From: column of To
      ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16(
          (target ^ static_cast<std::uint32_t>(row % To::row_bytes)) +
              static_cast<std::uint32_t>(row / To::row_bytes * To::panel_bytes),
          columns);
    }
  }

 private:
  std::uint32_t source_, target_;
};

}  // namespace tenon
