// Layouts of the 16x16x16 fragments of nvcuda::wmma, which CUDA leaves unspecified. These are the layouts of
// sm_75 and newer, found by loading numbered matrices and checked on a GPU by tests/fragment. Included by
// layout.hpp.
//
// They consist of mma fragments side by side: A is the A of one m16n8k16, B the B of two, the accumulator the
// accumulators of two, the second 8 columns to the right. matrix_a and matrix_b have the same layout whether
// the matrix was loaded as row_major or col_major. In nvcuda::wmma they have 16 elements x[] per lane, where
// x[i + 8] repeats x[i]; only the 8 distinct ones are counted here.
#pragma once

#include <type_traits>

#include "tenon/fragment/layout.hpp"

namespace tenon {

template <Major major>
struct LayoutA<wmma16x16x16, __half, major> : LayoutA<m16n8k16, __half> {};

template <Major major>
struct LayoutB<wmma16x16x16, __half, major> : LayoutOf<__half, 16, 16> {
  using Half = LayoutB<m16n8k16, __half>;

  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    const Coord in_half = Half::coord(lane, element % Half::elements);
    return {in_half.row, in_half.col + 8 * (element / Half::elements)};
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col) {
    const Owner in_half = Half::owner(row, col % 8);
    return {in_half.lane, in_half.element + Half::elements * (col / 8)};
  }
};

template <class T, Major major>
struct LayoutA<wmma16x16x16, T, major> : LayoutOf<T, 16, 16>, NoLayout {
  static_assert(!Element<T>::exists,
                "LayoutA: of wmma16x16x16 the layouts are known where A and B are __half");
};

template <class T, Major major>
struct LayoutB<wmma16x16x16, T, major> : LayoutOf<T, 16, 16>, NoLayout {
  static_assert(!Element<T>::exists,
                "LayoutB: of wmma16x16x16 the layouts are known where A and B are __half");
};

template <class T>
struct LayoutC<wmma16x16x16, T> : LayoutOf<T, 16, 16> {
  static_assert(std::is_same<T, float>::value || std::is_same<T, __half>::value || !Element<T>::exists,
                "LayoutC: of wmma16x16x16 the layouts are known of accumulators of float and __half");
  using Half = LayoutC<m16n8k16, T>;

  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    const Coord in_half = Half::coord(lane, element % Half::elements);
    return {in_half.row, in_half.col + 8 * (element / Half::elements)};
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col) {
    const Owner in_half = Half::owner(row, col % 8);
    return {in_half.lane, in_half.element + Half::elements * (col / 8)};
  }
};

}  // namespace tenon
