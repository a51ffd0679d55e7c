// The orders of 8-bit operands (interleaved_order.hpp) against the layouts of wgmma and of ldmatrix and
// stmatrix, as the PTX ISA has them.
#include "tenon/fragment/interleaved_order.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tenon/fragment/layout_wgmma.hpp"

namespace tenon {
namespace {

TEST(InterleavedOrder, IsAPermutationOfEach16) {
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(interleaved_k(interleaved_column(i)), i);
    EXPECT_EQ(interleaved_column(i) / 16, i / 16);
    EXPECT_EQ(interleaved_row(deinterleaved_column(i)), i);
    EXPECT_EQ(deinterleaved_column(i) / 16, i / 16);
  }
}

// Each lane holds all of its A operand, of every step of k, in the same registers as any other lane.
TEST(InterleavedOrder, AccumulatorsAreTheOperandOfTheSameLane) {
  using A = LayoutA<WgmmaShape<64, 32>, e4m3>;
  using S = LayoutC<WgmmaShape<96, 16>, float>;
  for (int step = 0; step < 3; ++step) {
    for (int lane = 0; lane < 128; ++lane) {
      for (int element = 0; element < A::elements; ++element) {
        const Coord at = A::coord(lane, element), first = A::coord(0, element);
        const Owner owner = S::owner(at.row, 32 * step + interleaved_column(at.col));
        ASSERT_EQ(owner.lane, lane) << "element " << element;
        ASSERT_EQ(owner.element, S::owner(first.row, interleaved_column(first.col)).element + 16 * step);
      }
    }
  }
}

// Of every 16 columns of O a lane holds four neighbours, and a quad all.
TEST(InterleavedOrder, OutputHasNeighboursInALane) {
  using O = LayoutC<WgmmaShape<64, 16>, float>;
  for (int column = 0; column < 64; ++column) {
    const Owner owner = O::owner(0, interleaved_row(column));
    EXPECT_EQ(owner.lane, column % 16 / 4);
    EXPECT_EQ(owner.element / 8, column / 16);
  }
}

// ldmatrix.trans gives lane l, of 8 x 8 pairs of bytes, rows 2t and 2t + 1 of column g; the bytes that it
// chooses (transpose_b8.hpp) are what stmatrix stores from it: columns 4t to 4t + 3, in bytes, of row g.
TEST(InterleavedOrder, PairsOfBytesTranspose) {
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    for (int odd = 0; odd < 2; ++odd) {
      for (int byte = 0; byte < 4; ++byte) {
        // __byte_perm(rows 0 to 7, rows 8 to 15, 0x6420 or 0x7531) takes bytes 0, 2 of both, or 1, 3.
        const int matrix = byte / 2, in_register = byte % 2 * 2 + odd;
        const int row = 8 * matrix + 2 * t + in_register / 2, column = 2 * g + in_register % 2;
        ASSERT_EQ(interleaved_row(column), g + 8 * odd);
        ASSERT_EQ(interleaved_k(row), 4 * t + byte);
      }
    }
  }
}

}  // namespace
}  // namespace tenon
