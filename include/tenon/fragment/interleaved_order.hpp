// The orders of rows and columns in which 8-bit operands follow from what a lane holds. Plain C++17.
//
// Two products in a row, S = Q K^T and O = P V, where P is made of the accumulators S: with operands of 16
// bits S lies as the A operand of the second product does. With operands of 8 bits it does not: a lane of a
// quad holds the columns 2t, 2t + 1, 2t + 8, 2t + 9 of 16, but 4t to 4t + 3 of A. The order of k is free, as
// long as A and B have the same: interleaved_column() is the order in which every lane's accumulators are its
// A operand.
//
// wgmma reads 8-bit operands with k contiguous only, so V, whose rows are keys, is transposed on its way to
// B. ldmatrix.trans moves pairs of bytes: of 16 rows a lane gets two columns of the rows 2t, 2t + 1, 2t + 8
// and 2t + 9, which are its four neighbours along k in the interleaved order. Its two columns, 2g and
// 2g + 1, go to the rows g and g + 8 of 16 (interleaved_row()): eight rows that stmatrix writes at a time are
// then neighbours, and do not conflict on banks. The accumulators of O have their columns in that order, in
// which a lane holds four neighbours: 4t, 4t + 2, 4t + 1 and 4t + 3.
#pragma once

#include "tenon/fragment/host_device.hpp"

namespace tenon {

// The column of S (key) at place k of the second product's A, and the other way round.
TENON_HOST_DEVICE constexpr int interleaved_column(int k) {
  return k / 16 * 16 + k % 4 / 2 * 8 + k % 16 / 4 * 2 + k % 2;
}
TENON_HOST_DEVICE constexpr int interleaved_k(int column) {
  return column / 16 * 16 + column % 8 / 2 * 4 + column % 16 / 8 * 2 + column % 2;
}

// The column of V (and of O) in row n of B (column n of the accumulators), and the other way round.
TENON_HOST_DEVICE constexpr int deinterleaved_column(int n) {
  return n / 16 * 16 + n % 8 * 2 + n % 16 / 8;
}
TENON_HOST_DEVICE constexpr int interleaved_row(int column) {
  return column / 16 * 16 + column % 2 * 8 + column % 16 / 2;
}

}  // namespace tenon
