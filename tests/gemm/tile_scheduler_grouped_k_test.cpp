// The scheduler of groups that divide k, on the host: each element of the C of each group is computed once,
// with the group's part of k; groups without k are multiplied beyond it, and invalid parts not at all.
#include "tenon/gemm/tile_scheduler_grouped_k.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon {
namespace {

constexpr int tile_m = 16, tile_n = 8, tile_k = 4, no_k = 1000;

struct Shape {
  int m, n, pitch, band, clusters;
};

// parts[g]: the k of group g; begin > end: none, since its words are invalid.
template <class Cluster>
void expect_each_element_once(const std::vector<std::int32_t>& words, int k, const Shape& s,
                              const std::vector<std::pair<int, int>>& parts, int first_invalid,
                              bool all_empty) {
  const GroupRows rows{words.data(), words.data() + 1, false, static_cast<int>(parts.size()), 0, k};
  const GroupRaster raster((s.n + tile_n - 1) / tile_n, s.band);
  const GroupOutputs outputs{s.m, s.pitch};
  const int ctas = s.clusters * Cluster::ctas;
  std::map<std::pair<int, int>, int> computed;  // by row and column
  for (int cta = 0; cta < ctas; ++cta) {
    GroupedKTileScheduler<Cluster, tile_m, tile_n, tile_k> scheduler(rows, raster, outputs, no_k, all_empty,
                                                                     cta, ctas);
    for (int i = scheduler.first(); scheduler.find(i); i += scheduler.step()) {
      const GroupedTile tile = scheduler.at(i);
      const auto [begin, end] = parts.at(static_cast<std::size_t>(tile.group));
      ASSERT_LE(begin, end);
      ASSERT_EQ(tile.row, tile.group * s.pitch + tile.a_row);
      ASSERT_EQ(tile.end_row, tile.group * s.pitch + s.m);
      ASSERT_LT(tile.row, tile.end_row);
      if (begin == end || all_empty) {
        ASSERT_EQ(tile.k, no_k);
        ASSERT_EQ(tile.end_k, no_k + tile_k);
      } else {
        ASSERT_EQ(tile.k, begin);
        ASSERT_EQ(tile.end_k, end);
      }
      ASSERT_EQ(tile.work.k_begin, 0);
      ASSERT_EQ(tile.work.k_count, (tile.end_k - tile.k + tile_k - 1) / tile_k);
      if (tile.column < s.n) ++computed[{tile.row, tile.column}];
    }
    ASSERT_EQ(scheduler.first_invalid(), first_invalid);
  }
  std::size_t tiles = 0;
  for (std::size_t g = 0; g < parts.size(); ++g) {
    if (parts[g].first > parts[g].second) continue;
    for (int row = 0; row < s.m; row += tile_m) {
      for (int column = 0; column < s.n; column += tile_n, ++tiles)
        ASSERT_EQ((computed[{static_cast<int>(g) * s.pitch + row, column}]), 1);
    }
  }
  ASSERT_EQ(computed.size(), tiles);
}

TEST(GroupedKTileScheduler, ComputesEachElementOfEachGroupOnce) {
  std::mt19937 random(20261124);
  const auto up_to = [&](unsigned most) { return 1 + static_cast<int>(random() % most); };
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE("problem " + std::to_string(i));
    Shape s{up_to(70), up_to(60), 0, up_to(5), up_to(9)};
    s.pitch = s.m + up_to(3) - 1;
    std::vector<std::int32_t> words{up_to(5) - 1};
    std::vector<std::pair<int, int>> parts;
    for (int g = up_to(9) - 1; g > 0; --g) {
      words.push_back(words.back() + (random() % 3 == 0 ? 0 : up_to(20)));
      parts.emplace_back(words[words.size() - 2], words.back());
    }
    const bool all_empty = random() % 8 == 0;
    expect_each_element_once<ClusterShape<1, 1>>(words, words.back(), s, parts, -1, all_empty);
    expect_each_element_once<ClusterShape<2, 1>>(words, words.back(), s, parts, -1, all_empty);
    if (HasFatalFailure()) return;
  }
}

TEST(GroupedKTileScheduler, AGroupWhosePartLeavesKHasNoTiles) {
  const std::pair<int, int> none{1, 0};
  const Shape s{20, 20, 20, 2, 3};
  expect_each_element_once<ClusterShape<2, 1>>({0, 10, 5, 20, 31, 20}, 30, s,
                                               {{0, 10}, none, none, none, none}, 1, false);
  expect_each_element_once<ClusterShape<1, 1>>({-1, 10, 10, 20}, 30, s, {none, {10, 10}, {10, 20}}, 0, false);
}

}  // namespace
}  // namespace tenon
