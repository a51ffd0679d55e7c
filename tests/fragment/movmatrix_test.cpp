// AfterMovmatrix against a model of movmatrix written from the PTX ISA (9.7.14.5.17), and composed with the
// layouts of operands: what becomes what.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tenon/fragment/layout.hpp"

namespace tenon {
namespace {

// The registers of a warp, each element as its coordinates: [lane][element].
using Warp = std::array<std::vector<Coord>, 32>;

template <class Layout>
Warp held_by() {
  Warp warp;
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < Layout::elements; ++e)
      warp[static_cast<std::size_t>(lane)].push_back(Layout::coord(lane, e));
  }
  return warp;
}

// "each thread of a warp holds a fragment of a row": thread i the two elements 2 * (i % 4) and + 1 of row i /
// 4, of the source and, transposed, of the destination matrix.
Warp movmatrix(const Warp& source) {
  Warp destination = source;
  for (std::size_t r = 0; r < source[0].size() / 2; ++r) {
    std::array<std::array<Coord, 8>, 8> matrix{};
    for (std::size_t i = 0; i < 32; ++i) {
      for (std::size_t j = 0; j < 2; ++j) matrix[i / 4][i % 4 * 2 + j] = source[i][2 * r + j];
    }
    for (std::size_t i = 0; i < 32; ++i) {
      for (std::size_t j = 0; j < 2; ++j) destination[i][2 * r + j] = matrix[i % 4 * 2 + j][i / 4];
    }
  }
  return destination;
}

template <class Layout>
void expect_what_movmatrix_does() {
  const Warp moved = movmatrix(held_by<Layout>());
  EXPECT_NE(moved, held_by<Layout>());
  EXPECT_EQ(held_by<AfterMovmatrix<Layout>>(), moved);
  EXPECT_EQ(held_by<AfterMovmatrix<AfterMovmatrix<Layout>>>(), held_by<Layout>());
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < Layout::elements; ++e) {
      const Coord at = moved[static_cast<std::size_t>(lane)][static_cast<std::size_t>(e)];
      EXPECT_EQ((AfterMovmatrix<Layout>::owner(at.row, at.col)), (Owner{lane, e}));
    }
  }
}

TEST(Movmatrix, MovesEveryElementAsTheIsaSays) {
  expect_what_movmatrix_does<LayoutA<m16n8k8, __half>>();
  expect_what_movmatrix_does<LayoutA<m16n8k16, __nv_bfloat16>>();
  expect_what_movmatrix_does<LayoutB<m16n8k8, __half>>();
  expect_what_movmatrix_does<LayoutB<m16n8k16, __half>>();
  expect_what_movmatrix_does<LayoutC<m16n8k16, __half>>();
  expect_what_movmatrix_does<LayoutC<wmma16x16x16, __half>>();
}

// The accumulator of one product is the B of the next: k runs along its rows.
TEST(Movmatrix, MakesAnAccumulatorTheNextB) {
  EXPECT_EQ((held_by<AfterMovmatrix<LayoutC<m16n8k16, __half>>>()), (held_by<LayoutB<m16n8k16, __half>>()));
  EXPECT_EQ((held_by<AfterMovmatrix<LayoutC<m16n8k8, __half>>>()), (held_by<LayoutB<m16n8k16, __half>>()));
}

// A of m16n8k16 becomes its transpose, if registers 1 and 2 change places; A of m16n8k8 becomes the B of its
// rows.
TEST(Movmatrix, TransposesA) {
  using A = LayoutA<m16n8k16, __half>;
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < A::elements; ++e) {
      const int exchanged[4] = {0, 2, 1, 3};
      const Coord moved = AfterMovmatrix<A>::coord(lane, exchanged[e / 2] * 2 + e % 2),
                  at = A::coord(lane, e);
      EXPECT_EQ(moved, (Coord{at.col, at.row})) << lane << " " << e;
    }
  }
  EXPECT_EQ((held_by<AfterMovmatrix<LayoutA<m16n8k8, __half>>>()), (held_by<LayoutB<m16n8k16, __half>>()));
}

}  // namespace
}  // namespace tenon
