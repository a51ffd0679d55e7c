// The layout that movmatrix makes of another one. Each register of a fragment of 16-bit elements holds an 8 x
// 8 matrix, which movmatrix (ptx/movmatrix.hpp) transposes across the warp. Included by layout.hpp.
//
// The coordinates are still those of the layout before; the elements move to other lanes. So movmatrix makes
// the f16 accumulator of one product the B of the next, register by register:
//
//   AfterMovmatrix<LayoutC<m16n8k16, __half>>    has the coordinates of    LayoutB<m16n8k16, __half>
//
// PTX ISA 9.7.14.5.17.
#pragma once

#include "tenon/fragment/layout.hpp"

namespace tenon {

template <class Layout>
struct AfterMovmatrix : Layout {
  static_assert(
      Layout::bits == 16 && Layout::lanes == 32 && Layout::matrices == 1,
      "AfterMovmatrix: movmatrix transposes registers that each hold an 8 x 8 matrix of 16-bit elements");

  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    const Owner before = transposed({lane, element});
    return Layout::coord(before.lane, before.element);
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col) {
    return transposed(Layout::owner(row, col));
  }

 private:
  // In a register's matrix lane 4g + t has row g, columns 2t and 2t + 1. Its own inverse.
  TENON_HOST_DEVICE static constexpr Owner transposed(Owner o) {
    const int row = o.lane / 4, col = o.lane % 4 * 2 + o.element % 2;
    return {4 * col + row / 2, o.element / 2 * 2 + row % 2};
  }
};

}  // namespace tenon
