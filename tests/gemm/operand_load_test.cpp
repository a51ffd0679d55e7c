// How much of an edge tile the producer loads.
#include "tenon/gemm/operand_load.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tenon {
namespace {

constexpr int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();

template <class Load>
class OperandLoadTest : public ::testing::Test {};

// k-tiles of 128; panels of 128 columns.
template <int Extent, int Parts>
using KMajor = OperandLoad<OperandTile<std::int8_t, Extent, 128, true>, Parts>;
template <int Extent, int Parts>
using InPanels = OperandLoad<OperandTile<std::int8_t, Extent, 128, false>, Parts>;

using Loads =
    ::testing::Types<KMajor<128, 1>, KMajor<128, 2>, KMajor<208, 2>, KMajor<64, 4>, InPanels<128, 1>,
                     InPanels<128, 2>, InPanels<256, 1>, InPanels<256, 2>, InPanels<384, 2>>;
TYPED_TEST_SUITE(OperandLoadTest, Loads);

TYPED_TEST(OperandLoadTest, LoadsAllOfATileWithinTheMatrix) {
  using Tile = typename TypeParam::Tile;
  for (const int left : {Tile::extent, Tile::extent + 1, most}) {
    EXPECT_EQ(TypeParam::rows_of(left), TypeParam::rows);
    EXPECT_EQ(TypeParam::bytes_of(left), Tile::bytes);
  }
}

TYPED_TEST(OperandLoadTest, LoadsNothingOfATileBeyondTheMatrixIfItIsKMajor) {
  using Tile = typename TypeParam::Tile;
  for (const int left : {0, -1, least})
    EXPECT_EQ(TypeParam::bytes_of(left), Tile::k_major ? 0 : Tile::bytes) << left;
}

TYPED_TEST(OperandLoadTest, LoadsEveryExistingRowAndGrowsWithTheExtent) {
  using Tile = typename TypeParam::Tile;
  int before = 0;
  for (int left = 1; left <= Tile::extent; ++left) {
    const int rows = TypeParam::bytes_of(left) / (Tile::depth * Tile::element_bytes);
    EXPECT_GE(rows, left);
    EXPECT_LE(rows, Tile::extent);
    EXPECT_GE(rows, before) << left;
    before = rows;
  }
}

TEST(OperandLoadTest, LoadsPartsOfWholeGroupsOf8Rows) {
  EXPECT_EQ((KMajor<128, 1>::rows_of(1)), 8);
  EXPECT_EQ((KMajor<128, 1>::rows_of(17)), 24);
  EXPECT_EQ((KMajor<128, 2>::rows_of(1)), 8);
  EXPECT_EQ((KMajor<128, 2>::rows_of(17)), 16);
  EXPECT_EQ((KMajor<208, 2>::rows_of(200)), 104);
  EXPECT_EQ((InPanels<256, 2>::rows_of(1)), 128);
}

}  // namespace
}  // namespace tenon
