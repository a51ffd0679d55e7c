// How much of a tile that reaches beyond the matrix is copied.
#include "tenon/gemm/tile_copy.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tenon {
namespace {

constexpr int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();

template <class Copy>
class TileCopyTest : public ::testing::Test {};

// Slabs of 128 of k; panels of 128 columns.
template <int Extent, int Parts>
using KMajor = TileCopy<OperandTile<std::int8_t, Extent, 128, true>, Parts>;
template <int Extent, int Parts>
using InPanels = TileCopy<OperandTile<std::int8_t, Extent, 128, false>, Parts>;

using Copies =
    ::testing::Types<KMajor<128, 1>, KMajor<128, 2>, KMajor<208, 2>, KMajor<64, 4>, InPanels<128, 1>,
                     InPanels<128, 2>, InPanels<256, 1>, InPanels<256, 2>, InPanels<384, 2>>;
TYPED_TEST_SUITE(TileCopyTest, Copies);

TYPED_TEST(TileCopyTest, CopiesAllOfATileWithinTheMatrix) {
  using Tile = typename TypeParam::Tile;
  for (const int rest : {Tile::extent, Tile::extent + 1, most}) {
    EXPECT_EQ(TypeParam::lines_of(rest), TypeParam::lines);
    EXPECT_EQ(TypeParam::bytes_of(rest), Tile::bytes);
  }
}

TYPED_TEST(TileCopyTest, CopiesNothingOfATileBeyondTheMatrixIfItsLinesRunAlongIt) {
  using Tile = typename TypeParam::Tile;
  for (const int rest : {0, -1, least})
    EXPECT_EQ(TypeParam::bytes_of(rest), Tile::k_major ? 0 : Tile::bytes) << rest;
}

TYPED_TEST(TileCopyTest, CopiesEveryRowThatThereIsAndNeverMoreForLess) {
  using Tile = typename TypeParam::Tile;
  int before = 0;
  for (int rest = 1; rest <= Tile::extent; ++rest) {
    const int rows = TypeParam::bytes_of(rest) / (Tile::depth * Tile::element_bytes);
    EXPECT_GE(rows, rest);
    EXPECT_LE(rows, Tile::extent);
    EXPECT_GE(rows, before) << rest;
    before = rows;
  }
}

TEST(TileCopyTest, SharesLinesOutInWholeGroupsOf8) {
  EXPECT_EQ((KMajor<128, 1>::lines_of(1)), 8);
  EXPECT_EQ((KMajor<128, 1>::lines_of(17)), 24);
  EXPECT_EQ((KMajor<128, 2>::lines_of(1)), 8);
  EXPECT_EQ((KMajor<128, 2>::lines_of(17)), 16);
  EXPECT_EQ((KMajor<208, 2>::lines_of(200)), 104);
  EXPECT_EQ((InPanels<256, 2>::lines_of(1)), 128);
}

}  // namespace
}  // namespace tenon
