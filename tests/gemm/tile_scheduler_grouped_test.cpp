// The scheduler of grouped products on the host. For random groups, empty ones among them, each element of
// each group is computed once, by CTAs of a cluster that share what they say. Sizes that leave the buffer are
// found, and their groups have no tiles.
#include "tenon/gemm/tile_scheduler_grouped.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon {
namespace {

constexpr int tile_m = 16, tile_n = 8;

struct Sizes {
  int n, band, clusters;
};

Sizes draw(std::mt19937& random) {
  const auto up_to = [&](unsigned most) { return 1 + static_cast<int>(random() % most); };
  return {up_to(60), up_to(5), up_to(14)};
}

// The number of rows of a group: often none, one, or whole tiles.
int draw_rows(std::mt19937& random) {
  switch (random() % 5) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return tile_m * static_cast<int>(random() % 6);
    default:
      return static_cast<int>(random() % (5 * tile_m));
  }
}

// Every work tile of every CTA. Calls see(cluster, index, rank, tile).
template <class Cluster, class See>
void for_each_tile(const GroupRows& rows, const Sizes& s, int* invalid, const See& see) {
  const GroupRaster raster((s.n + tile_n - 1) / tile_n, s.band);
  const int ctas = s.clusters * Cluster::ctas;
  for (int cta = 0; cta < ctas; ++cta) {
    GroupedTileScheduler<Cluster, tile_m, tile_n> scheduler(rows, raster, {1, 3}, cta, ctas);
    for (int i = scheduler.first(); scheduler.find(i); i += scheduler.step())
      see(cta / Cluster::ctas, i, cta % Cluster::ctas, scheduler.at(i));
    *invalid = scheduler.first_invalid();
  }
}

// expected[g]: the rows of group g.
template <class Cluster>
void expect_each_element_once(const GroupRows& rows, const Sizes& s,
                              const std::vector<std::pair<int, int>>& expected, int expected_invalid) {
  // For each group the tiles that were computed: (first row, first column).
  std::vector<std::map<std::pair<int, int>, int>> computed(expected.size());
  std::map<std::pair<int, int>, GroupedTile> of_rank_0;
  int invalid = -2;
  for_each_tile<Cluster>(rows, s, &invalid, [&](int cluster, int index, int rank, const GroupedTile& tile) {
    ASSERT_GE(tile.group, 0);
    ASSERT_LT(tile.group, static_cast<int>(expected.size()));
    const auto [begin, end] = expected[static_cast<std::size_t>(tile.group)];
    ASSERT_EQ(tile.end_row, end);
    ASSERT_GE(tile.row, begin);
    ASSERT_LT(tile.row, end);
    ASSERT_EQ((tile.row - begin) % tile_m, 0);
    ASSERT_EQ(tile.work.k_begin, 1);
    ASSERT_EQ(tile.work.k_count, 3);
    ASSERT_FALSE(tile.work.tail_split);
    if (rank == 0) {
      of_rank_0[{cluster, index}] = tile;
    } else {
      const GroupedTile& other = of_rank_0.at({cluster, index});
      ASSERT_EQ(tile.group, other.group);
      ASSERT_EQ(tile.shares_a, other.shares_a);
      ASSERT_EQ(tile.row, other.row + (tile.shares_a ? 0 : tile_m));
      ASSERT_EQ(tile.column, other.column + (tile.shares_a ? tile_n : 0));
    }
    if (tile.column >= s.n) {  // a CTA without a tile, beside one that has the last
      ASSERT_TRUE(tile.shares_a && rank == 1);
      return;
    }
    ++computed[static_cast<std::size_t>(tile.group)][{tile.row, tile.column}];
  });
  if (::testing::Test::HasFatalFailure()) return;
  ASSERT_EQ(invalid, expected_invalid);
  for (std::size_t g = 0; g < expected.size(); ++g) {
    const auto [begin, end] = expected[g];
    std::size_t tiles = 0;
    for (int row = begin; row < end; row += tile_m) {
      for (int column = 0; column < s.n; column += tile_n, ++tiles)
        ASSERT_EQ((computed[g][{row, column}]), 1)
            << "group " << g << ", row " << row << ", column " << column;
    }
    ASSERT_EQ(computed[g].size(), tiles) << "group " << g;
  }
}

template <class Cluster, class Word>
void expect_contiguous(std::mt19937& random) {
  const Sizes s = draw(random);
  const int groups = static_cast<int>(random() % 20);
  std::vector<Word> offsets(1, static_cast<Word>(random() % 40));
  std::vector<std::pair<int, int>> expected;
  for (int g = 0; g < groups; ++g) {
    offsets.push_back(offsets.back() + static_cast<Word>(draw_rows(random)));
    expected.emplace_back(static_cast<int>(offsets[static_cast<std::size_t>(g)]),
                          static_cast<int>(offsets.back()));
  }
  const int m = static_cast<int>(offsets.back()) + static_cast<int>(random() % 3);
  expect_each_element_once<Cluster>({offsets.data(), offsets.data() + 1, sizeof(Word) == 8, groups, 0, m}, s,
                                    expected, -1);
}

template <class Cluster, class Word>
void expect_masked(std::mt19937& random) {
  const Sizes s = draw(random);
  const int groups = static_cast<int>(random() % 20), capacity = 5 * tile_m + static_cast<int>(random() % 9);
  std::vector<Word> sizes;
  std::vector<std::pair<int, int>> expected;
  for (int g = 0; g < groups; ++g) {
    const int rows = random() % 4 == 0 ? capacity : draw_rows(random);
    sizes.push_back(static_cast<Word>(rows));
    expected.emplace_back(g * capacity, g * capacity + rows);
  }
  expect_each_element_once<Cluster>({nullptr, sizes.data(), sizeof(Word) == 8, groups, capacity, capacity}, s,
                                    expected, -1);
}

template <class Cluster>
void expect_all(int problems) {
  std::mt19937 random(20261124);
  for (int i = 0; i < problems; ++i) {
    SCOPED_TRACE("problem " + std::to_string(i));
    expect_contiguous<Cluster, std::int32_t>(random);
    expect_contiguous<Cluster, std::int64_t>(random);
    expect_masked<Cluster, std::int32_t>(random);
    expect_masked<Cluster, std::int64_t>(random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}
TEST(GroupedTileScheduler, ComputesEachElementOfRandomGroupsOnce) {
  expect_all<ClusterShape<1, 1>>(2000);
}
TEST(GroupedTileScheduler, PairsOfCtasComputeEachElementOfRandomGroupsOnce) {
  expect_all<ClusterShape<2, 1>>(2000);
}

// Fewer clusters never take more waves, and one cluster less would.
TEST(GroupedTileScheduler, NoClusterIsUsedThatShortensNoWave) {
  for (int clusters = 1; clusters <= 70; ++clusters) {
    for (int tiles = 1; tiles <= 500; ++tiles) {
      const int used = clusters_for(tiles, clusters), waves = (tiles + clusters - 1) / clusters;
      ASSERT_GE(used, 1);
      ASSERT_LE(used, clusters);
      ASSERT_EQ((tiles + used - 1) / used, waves);
      ASSERT_TRUE(used == 1 || (tiles + used - 2) / (used - 1) > waves);
    }
    ASSERT_EQ(clusters_for(0, clusters), 1);
  }
  EXPECT_EQ(clusters_for(2048, 66), 64);  // 32 waves
}

// Ping-pong: each of two consumers finds every other tile, and together they find all.
TEST(GroupedTileScheduler, PingpongConsumersFindAllWorkTiles) {
  const std::int32_t offsets[] = {3, 3, 50, 50, 50, 131, 132, 400, 400};
  const GroupRows rows{offsets, offsets + 1, false, 8, 0, 400};
  const GroupRaster raster(7, 2);
  const auto tiles_from = [&](int turn, int every) {
    GroupedTileScheduler<ClusterShape<1, 1>, tile_m, tile_n> scheduler(rows, raster, {0, 1}, 0, 3);
    std::vector<std::pair<int, int>> found;
    for (int i = turn * scheduler.step(); scheduler.find(i); i += every * scheduler.step()) {
      const GroupedTile tile = scheduler.at(i);
      found.emplace_back(tile.row, tile.column);
    }
    return found;
  };
  const auto all = tiles_from(0, 1);
  const std::vector<std::pair<int, int>> turns[2] = {tiles_from(0, 2), tiles_from(1, 2)};
  ASSERT_EQ(turns[0].size() + turns[1].size(), all.size());
  for (std::size_t x = 0; x < all.size(); ++x) EXPECT_EQ(turns[x % 2][x / 2], all[x]);
}

template <class Word>
void expect_invalid(const std::vector<Word>& offsets, const std::vector<std::pair<int, int>>& expected, int m,
                    int first_invalid) {
  const int groups = static_cast<int>(offsets.size()) - 1;
  const GroupRows rows{offsets.data(), offsets.data() + 1, sizeof(Word) == 8, groups, 0, m};
  expect_each_element_once<ClusterShape<2, 1>>(rows, {20, 2, 3}, expected, first_invalid);
  expect_each_element_once<ClusterShape<1, 1>>(rows, {20, 2, 3}, expected, first_invalid);
}
TEST(GroupedTileScheduler, AGroupThatLeavesItsBufferHasNoTiles) {
  expect_invalid<std::int32_t>({0, 10, 31}, {{0, 10}, {0, 0}}, 30, 1);              // beyond the end
  expect_invalid<std::int32_t>({-1, 10, 30}, {{0, 0}, {10, 30}}, 30, 0);            // before the begin
  expect_invalid<std::int32_t>({0, 20, 10, 30}, {{0, 20}, {0, 0}, {0, 0}}, 30, 1);  // not sorted
  expect_invalid<std::int64_t>({0, std::int64_t{1} << 32, 30}, {{0, 0}, {0, 0}}, 30, 0);
  expect_invalid<std::int64_t>({std::int64_t{1} << 32, (std::int64_t{1} << 32) + 5, 7}, {{0, 0}, {0, 0}}, 30,
                               0);
  expect_invalid<std::int64_t>({std::numeric_limits<std::int64_t>::min(), 0, 7}, {{0, 0}, {0, 7}}, 30, 0);
}
TEST(GroupedTileScheduler, AMaskedGroupWithMoreRowsThanItsBufferHasNoTiles) {
  const std::int32_t sizes[] = {5, 33, 32, -1, 2};
  const GroupRows rows{nullptr, sizes, false, 5, 32, 32};
  expect_each_element_once<ClusterShape<2, 1>>(rows, {20, 2, 3},
                                               {{0, 5}, {0, 0}, {64, 96}, {0, 0}, {128, 130}}, 1);
}

}  // namespace
}  // namespace tenon
