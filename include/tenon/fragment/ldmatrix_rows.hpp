// The rows that each lane addresses in ldmatrix, so that ldmatrix loads a fragment. Plain C++: the tests run
// it against a model of ldmatrix. Builds on layout.hpp.
//
// ldmatrix (PTX ISA 9.7.14.5.15) reads up to four matrices of 8 rows of 16 bytes. Lane 8i + r supplies the
// address of row r of matrix i, and register i of lane 4g + t receives the 32 bits t of row g: a core matrix
// of layout.hpp. So matrix i must be the core matrix of the operand that register i holds. Where k is not
// contiguous in memory, a row of the matrix runs along m (or n), and ldmatrix.trans transposes it, for 16-bit
// elements.
#pragma once

#include "tenon/fragment/layout.hpp"

namespace tenon {

// Reports what ldmatrix cannot load as one error: at most one of the conditions fails.
template <class Layout, bool k_major, int count>
TENON_HOST_DEVICE constexpr void check_ldmatrix() {
  constexpr bool fits = Layout::bits <= 32 && Layout::lanes == 32 && Layout::matrices == 1;
  constexpr int matrices = count * Layout::registers;
  static_assert(Layout::bits <= 32,
                "ldmatrix fills 32-bit registers: load f64 fragments element by element, with fill()");
  static_assert(
      Layout::lanes == 32,
      "ldmatrix loads for a warp: load the A of wgmma with fill(), or warp by warp as the A of m16n8k16");
  static_assert(Layout::matrices == 1,
                "ldmatrix does not fit the fragments of Volta's m8n8k4: load them with fill()");
  static_assert(
      !fits || k_major || Layout::bits == 16,
      "ldmatrix.trans, which an operand that is not k-major needs, transposes 16-bit elements only: "
      "store this operand k-major");
  static_assert(!fits || matrices == 1 || matrices == 2 || matrices == 4,
                "ldmatrix loads 1, 2 or 4 matrices, one for each register of the fragments");
}

// For an A fragment: {m, k}, relative to the fragment's first element, of the first element of the 16 bytes.
// k_major: whether the operand is stored with k contiguous.
template <class Layout, bool k_major>
TENON_HOST_DEVICE constexpr Coord ldmatrix_row_a(int lane) {
  check_ldmatrix<Layout, k_major, 1>();
  constexpr int row_blocks = Layout::rows / 8;
  const int matrix =
      lane / 8 % Layout::registers;  // lanes beyond the last matrix repeat: their address is not used
  const int m = 8 * (matrix % row_blocks);
  const int k = 128 / Layout::bits * (matrix / row_blocks);
  const int row = lane % 8;
  return k_major ? Coord{m + row, k} : Coord{m, k + row};
}

// For `count` B fragments side by side in n: {k, n}, likewise.
template <class Layout, bool k_major, int count = 1>
TENON_HOST_DEVICE constexpr Coord ldmatrix_row_b(int lane) {
  check_ldmatrix<Layout, k_major, count>();
  const int matrix = lane / 8 % (count * Layout::registers);
  const int k = 128 / Layout::bits * (matrix % Layout::registers);
  const int n = 8 * (matrix / Layout::registers);
  const int row = lane % 8;
  return k_major ? Coord{k, n + row} : Coord{k + row, n};
}

}  // namespace tenon
