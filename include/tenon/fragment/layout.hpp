// Fragment layouts: the lane and register that hold each element of a matrix.
//
//   using A = tenon::LayoutA<tenon::m16n8k16, __half>;
//   constexpr auto where = A::coord(1, 2);   // lane 1, element 2: row 8, column 2
//   constexpr auto owner = A::owner(8, 2);   // row 8, column 2: lane 1, element 2
//
// Rows and columns are those of the operand: A is m x k, B is k x n, C and D are m x n. Elements are numbered
// as in PTX: register by register, from the low bits up. All functions are constexpr, for host and device,
// and need no CUDA header. They do not check their arguments: 0 <= lane < 32, 0 <= element < elements, 0 <=
// row < rows and 0 <= col < cols.
//
// One rule covers every mma shape (PTX ISA 9.7.14.5.1 to .13) except Volta's f16 m8n8k4 (layout_volta.hpp). A
// core matrix has 8 rows of 128 bits; lane 4g + t holds the 32 bits from bit 32t on of row g. The core
// matrices of A are numbered along m first, then along k; those of B along k. Builds on element.hpp. Layouts
// of wmma: layout_wmma.hpp; of wgmma: layout_wgmma.hpp; after movmatrix: layout_movmatrix.hpp.
#pragma once

#include "tenon/fragment/element.hpp"
#include "tenon/fragment/host_device.hpp"

namespace tenon {

struct Coord {
  int row, col;
};
struct Owner {
  int lane, element;
};
TENON_HOST_DEVICE constexpr bool operator==(Coord x, Coord y) {
  return x.row == y.row && x.col == y.col;
}
TENON_HOST_DEVICE constexpr bool operator!=(Coord x, Coord y) {
  return !(x == y);
}
TENON_HOST_DEVICE constexpr bool operator==(Owner x, Owner y) {
  return x.lane == y.lane && x.element == y.element;
}
TENON_HOST_DEVICE constexpr bool operator!=(Owner x, Owner y) {
  return !(x == y);
}

// The members of every layout: the size of its matrix, and how a lane's elements are packed into registers.
template <class T, int Rows, int Cols, int Matrices = 1, int Lanes = 32>
struct LayoutOf {
  static_assert(Element<T>::bits > 0, "");  // if T is not an element, its bits say so
  static constexpr int rows = Rows, cols = Cols;
  static constexpr int lanes = Lanes;  // of a warp; of wgmma's layouts, the threads of a warpgroup
  static constexpr int bits = Element<T>::bits;
  static constexpr int per_register =
      bits < 32 ? 32 / bits : 1;  // a register has 32 bits; that of f64 has 64
  static constexpr int matrices =
      Matrices;  // separate matrices that a warp holds at once: 1, but Volta's m8n8k4: 4
  static constexpr int elements = Rows * Cols * Matrices / Lanes;  // per lane
  static constexpr int registers = elements / per_register;        // per lane

  // The register that holds a lane's element, and the element's lowest bit in it.
  TENON_HOST_DEVICE static constexpr int register_of(int element) { return element / per_register; }
  TENON_HOST_DEVICE static constexpr int bit_of(int element) { return element % per_register * bits; }
};

// The members of a layout that does not exist: with them, its static_assert is the only error that the
// compiler prints.
struct NoLayout {
  TENON_HOST_DEVICE static constexpr Coord coord(int, int) { return {0, 0}; }
  TENON_HOST_DEVICE static constexpr Owner owner(int, int) { return {0, 0}; }
};

// A: m x k, k-contiguous within a register.
template <class Shape, class T, Major major = Major::row>
struct LayoutA : LayoutOf<T, Shape::m, Shape::k> {
  static_assert(mma_has_operand<Shape, T>() || !Element<T>::exists,
                "LayoutA: no mma instruction takes an A of this element type in this shape");
  static_assert(major == Major::row,
                "LayoutA: A is row-major in every mma but f16 m8n8k4 (LayoutA<m8n8k4, __half, ...>)");
  using Base = LayoutOf<T, Shape::m, Shape::k>;
  static constexpr int row_blocks = Shape::m / 8;

  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    const int reg = element / Base::per_register;
    return {lane / 4 + 8 * (reg % row_blocks),
            (lane % 4 + 4 * (reg / row_blocks)) * Base::per_register + element % Base::per_register};
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col) {
    const int column_register = col / Base::per_register;
    const int reg = row / 8 + row_blocks * (column_register / 4);
    return {row % 8 * 4 + column_register % 4, reg * Base::per_register + col % Base::per_register};
  }
};

// B: k x n, k-contiguous within a register: the transpose of an 8-row A.
template <class Shape, class T, Major major = Major::column>
struct LayoutB : LayoutOf<T, Shape::k, Shape::n> {
  static_assert(mma_has_operand<Shape, T>() || !Element<T>::exists,
                "LayoutB: no mma instruction takes a B of this element type in this shape");
  static_assert(major == Major::column,
                "LayoutB: B is column-major in every mma but f16 m8n8k4 (LayoutB<m8n8k4, __half, ...>)");
  using Base = LayoutOf<T, Shape::k, Shape::n>;

  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    const int reg = element / Base::per_register;
    return {(lane % 4 + 4 * reg) * Base::per_register + element % Base::per_register, lane / 4};
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col) {
    const int row_register = row / Base::per_register;
    return {col * 4 + row_register % 4, row_register / 4 * Base::per_register + row % Base::per_register};
  }
};

// C and D: m x n, in T = float, __half, int32_t or double. Two neighbours of a row, then 8 rows further down.
template <class Shape, class T>
struct LayoutC : LayoutOf<T, Shape::m, Shape::n> {
  static_assert(AccumulatorExists<Shape, T>::value || !Element<T>::exists,
                "LayoutC: no mma instruction accumulates in this type in this shape");

  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    return {lane / 4 + 8 * (element / 2), lane % 4 * 2 + element % 2};
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col) {
    return {row % 8 * 4 + col / 2, row / 8 * 2 + col % 2};
  }
};

}  // namespace tenon

#include "tenon/fragment/layout_movmatrix.hpp"
#include "tenon/fragment/layout_volta.hpp"
#include "tenon/fragment/layout_wgmma.hpp"
#include "tenon/fragment/layout_wmma.hpp"
