// How much of an edge tile the producer loads.
#include "tenon/gemm/operand_load.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <utility>

namespace tenon {
namespace {

constexpr int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();

// A tile and how many CTAs load it.
template <class Tile_, int Parts>
struct Shared {
  using Tile = Tile_;
  static constexpr int parts = Parts;
  static constexpr OperandLoad<Tile> load{Parts};
};
template <class Load>
class OperandLoadTest : public ::testing::Test {};

// k-tiles of 128; panels of 128 columns.
template <int Extent, int Parts>
using KMajor = Shared<OperandTile<std::int8_t, Extent, 128, true>, Parts>;
template <int Extent, int Parts>
using InPanels = Shared<OperandTile<std::int8_t, Extent, 128, false>, Parts>;

using Loads = ::testing::Types<KMajor<128, 1>, KMajor<128, 2>, KMajor<208, 2>, KMajor<64, 4>, KMajor<64, 8>,
                               InPanels<128, 1>, InPanels<128, 2>, InPanels<256, 1>, InPanels<256, 2>,
                               InPanels<256, 8>, InPanels<384, 2>, InPanels<384, 3>>;
TYPED_TEST_SUITE(OperandLoadTest, Loads);

TYPED_TEST(OperandLoadTest, LoadsAllOfATileWithinTheMatrix) {
  using Tile = typename TypeParam::Tile;
  for (const int left : {Tile::extent, Tile::extent + 1, most}) {
    EXPECT_EQ(TypeParam::load.rows_of(left), TypeParam::load.rows());
    EXPECT_EQ(TypeParam::load.bytes_of(left), Tile::bytes);
  }
}

TYPED_TEST(OperandLoadTest, LoadsNothingOfATileBeyondTheMatrixIfItIsKMajor) {
  using Tile = typename TypeParam::Tile;
  for (const int left : {0, -1, least})
    EXPECT_EQ(TypeParam::load.bytes_of(left), Tile::k_major ? 0 : Tile::bytes) << left;
}

TYPED_TEST(OperandLoadTest, LoadsEveryExistingRowAndGrowsWithTheExtent) {
  using Tile = typename TypeParam::Tile;
  int before = 0;
  for (int left = 1; left <= Tile::extent; ++left) {
    const int rows = TypeParam::load.bytes_of(left) / (Tile::depth * Tile::element_bytes);
    EXPECT_GE(rows, left);
    EXPECT_LE(rows, Tile::extent);
    EXPECT_GE(rows, before) << left;
    before = rows;
  }
}

// The boxes of all parts: each row of each panel is in one of them.
TYPED_TEST(OperandLoadTest, PartsAreATileTogether) {
  using Tile = typename TypeParam::Tile;
  const auto& load = TypeParam::load;
  ASSERT_TRUE(OperandLoad<Tile>::can_share(TypeParam::parts));
  std::set<std::pair<int, int>> seen;
  for (int part = 0; part < TypeParam::parts; ++part) {
    const int first = Tile::k_major ? part * load.rows() : load.first_row(part);
    for (int box = 0; box < load.boxes(); ++box) {
      EXPECT_EQ(first % 8, 0);
      for (int row = first; row < first + load.rows(); ++row)
        EXPECT_TRUE(seen.emplace(load.first_panel(part) + box, row).second)
            << "part " << part << ", row " << row;
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(Tile::rows * Tile::panels));
  EXPECT_EQ(seen.rbegin()->first, Tile::panels - 1);
}

TEST(OperandLoadTest, LoadsPartsOfWholeGroupsOf8Rows) {
  EXPECT_EQ((KMajor<128, 1>::load.rows_of(1)), 8);
  EXPECT_EQ((KMajor<128, 1>::load.rows_of(17)), 24);
  EXPECT_EQ((KMajor<128, 2>::load.rows_of(1)), 8);
  EXPECT_EQ((KMajor<128, 2>::load.rows_of(17)), 16);
  EXPECT_EQ((KMajor<208, 2>::load.rows_of(200)), 104);
  EXPECT_EQ((InPanels<256, 2>::load.rows_of(1)), 128);
  EXPECT_EQ((InPanels<256, 8>::load.rows_of(1)), 32);
  EXPECT_EQ((InPanels<256, 8>::load.boxes()), 1);
  EXPECT_FALSE((OperandLoad<KMajor<208, 1>::Tile>::can_share(4)));
}

}  // namespace
}  // namespace tenon
