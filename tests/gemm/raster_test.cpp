// The raster: it contains each tile once, and consecutive tiles are near each other.
#include "tenon/gemm/raster.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

namespace tenon {
namespace {

const int sizes[] = {1, 2, 3, 7, 8, 9, 13, 16, 17, 31, 64};
const int bands[] = {1, 2, 3, 8, 100};

template <class Check>
void for_every_raster(Check check) {
  for (const int tiles_m : sizes) {
    for (const int tiles_n : sizes) {
      for (const int band : bands) {
        SCOPED_TRACE(::testing::Message() << tiles_m << " x " << tiles_n << " in bands of " << band);
        check(Raster{tiles_m, tiles_n, band});
      }
    }
  }
}

TEST(Raster, TakesEveryTileOnce) {
  for_every_raster([](const Raster& raster) {
    std::set<std::pair<int, int>> taken;
    for (int i = 0; i < raster.tiles(); ++i) {
      const TilePosition tile = raster.at(i);
      ASSERT_TRUE(tile.m >= 0 && tile.m < raster.tiles_m() && tile.n >= 0 && tile.n < raster.tiles_n())
          << "index " << i;
      ASSERT_TRUE(taken.insert({tile.m, tile.n}).second) << "index " << i;
    }
    ASSERT_EQ(taken.size(),
              static_cast<std::size_t>(raster.tiles_m()) * static_cast<std::size_t>(raster.tiles_n()));
  });
}

// The next tile is below in the same column, or at the top of an adjacent column of the band, or in the same
// column where the next band begins.
TEST(Raster, StepsDownOrToAnAdjacentColumn) {
  for_every_raster([](const Raster& raster) {
    for (int i = 0; i + 1 < raster.tiles(); ++i) {
      const TilePosition here = raster.at(i), next = raster.at(i + 1);
      const bool same_band = here.m / raster.band() == next.m / raster.band();
      if (next.m == here.m + 1) {
        ASSERT_EQ(next.n, here.n) << "index " << i;
      } else {
        ASSERT_TRUE(same_band) << "index " << i;
        ASSERT_EQ(std::abs(next.n - here.n), 1) << "index " << i;
        ASSERT_EQ(next.m, here.m / raster.band() * raster.band()) << "index " << i;
      }
    }
  });
}

// CTAs that run at the same time read few rows of A and columns of B, which is the purpose of the order.
TEST(Raster, ConsecutiveTilesShareOperands) {
  const Raster raster{64, 64, 8};
  constexpr int together = 128;
  for (int first = 0; first + together <= raster.tiles(); ++first) {
    std::set<int> rows, columns;
    for (int i = first; i < first + together; ++i) {
      rows.insert(raster.at(i).m);
      columns.insert(raster.at(i).n);
    }
    ASSERT_LE(rows.size(), 16U);  // the rows of one band or of two
    ASSERT_LE(columns.size(), 17U);
  }
}

TEST(Raster, OfNothingHasNoTiles) {
  static_assert(Raster().tiles() == 0 && Raster(0, 5, 8).tiles() == 0 && Raster(5, 0, 8).tiles() == 0);
  static_assert(make_raster(0, 0, 128, 256, 8).tiles() == 0);
  SUCCEED();
}

// 2^31 - 1 rows of one tile each, and as many columns.
TEST(Raster, TakesTheLastOf31BitsOfTiles) {
  constexpr int most = std::numeric_limits<int>::max();
  const TilePosition lowest = Raster(most, 1, 8).at(most - 1), last = Raster(1, most, 8).at(most - 1);
  EXPECT_EQ(lowest.m, most - 1);
  EXPECT_EQ(lowest.n, 0);
  EXPECT_EQ(last.m, 0);
  EXPECT_EQ(last.n, most - 1);
  const TilePosition middle = Raster(1 << 15, (1 << 16) - 1, 8).at(most - (1 << 15));
  EXPECT_EQ(middle.m / 8, (1 << 15) / 8 - 1);
}

TEST(Raster, RoundsUpToWholeTiles) {
  constexpr int most = std::numeric_limits<int>::max();
  static_assert(make_raster(1, 1, 128, 256, 8).tiles() == 1);
  static_assert(make_raster(128, 256, 128, 256, 8).tiles() == 1);
  static_assert(make_raster(129, 257, 128, 256, 8).tiles_m() == 2 &&
                make_raster(129, 257, 128, 256, 8).tiles_n() == 2);
  static_assert(make_raster(most, 1, 128, 128, 8).tiles_m() == 1 << 24);  // no overflow
  SUCCEED();
}

}  // namespace
}  // namespace tenon
