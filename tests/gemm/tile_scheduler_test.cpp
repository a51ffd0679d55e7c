// The tile scheduler on the host. For 10^5 random problems each tile of C is computed with each k-tile once,
// and the CTAs of a cluster compute their tiles in the same order. The views of unaligned operands contain
// each row of C once.
#include "tenon/gemm/tile_scheduler.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tenon/gemm/row_interleaved.hpp"
#include "tenon/gemm/tile_scheduler_stacked.hpp"
#include "tenon/gemm/tile_scheduler_unaligned.hpp"

namespace tenon {
namespace {

struct Problem {
  int tiles_m, tiles_n, band, k_tiles, clusters;  // cluster tiles; clusters that run at once
};

Problem draw(std::mt19937& random) {
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  // Half of the problems have few tiles, so that the last wave is the only one.
  const int most = random() % 2 == 0 ? 3 : 12;
  return {up_to(most), up_to(most), up_to(14), random() % 8 == 0 ? up_to(200) : up_to(40), up_to(66)};
}

// For each tile of C the ranges [begin, end) of k-tiles that were multiplied, ordered by begin.
using Coverage = std::map<std::pair<int, int>, std::map<int, int>>;

template <class Cluster, bool splits_tail>
void expect_all_of_c_once(const Problem& p, const Cluster& cluster = {}) {
  SCOPED_TRACE(::testing::Message() << p.tiles_m << " x " << p.tiles_n << " cluster tiles in bands of "
                                    << p.band << ", " << p.k_tiles << " k-tiles, " << p.clusters
                                    << " clusters of " << cluster.m << " x " << cluster.n << " x "
                                    << cluster.k);
  const Raster raster(p.tiles_m, p.tiles_n, p.band);
  const TailSplit tail = TailSplit::of(raster.tiles(), p.clusters, splits_tail ? p.k_tiles : 0);
  const int ctas = tail.busy_clusters * cluster.ctas;
  Coverage coverage;
  for (int cta = 0; cta < ctas; ++cta) {
    const TileScheduler<Cluster, splits_tail> scheduler(raster, tail.whole_tiles, p.k_tiles, cta, ctas,
                                                        cluster);
    bool had_split = false;
    int last = -1;
    for_each_work(scheduler, 0, 1, [&](int index) {
      ASSERT_GT(index, last);
      last = index;
      const WorkTile work = scheduler.at(index);
      ASSERT_GE(work.k_begin, 0);
      ASSERT_GE(work.k_count, 1);  // so that the accumulators have a value
      ASSERT_FALSE(had_split && !work.tail_split) << "split tiles come last";
      had_split = had_split || work.tail_split;
      if (work.k_begin >= p.k_tiles) {  // zeros beyond k, one k-tile of them
        ASSERT_EQ(work.k_count, 1);
        return;
      }
      const bool is_new =
          coverage[{work.m, work.n}].emplace(work.k_begin, work.k_begin + work.k_count).second;
      ASSERT_TRUE(is_new) << "tile " << work.m << ", " << work.n << " from " << work.k_begin << " twice";
    });
    if (::testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(scheduler.ends_with_split_tile(), had_split);
  }
  ASSERT_EQ(coverage.size(), static_cast<std::size_t>(p.tiles_m * cluster.m) *
                                 static_cast<std::size_t>(p.tiles_n * cluster.n));
  for (const auto& [tile, parts] : coverage) {
    ASSERT_TRUE(tile.first >= 0 && tile.first < p.tiles_m * cluster.m);
    ASSERT_TRUE(tile.second >= 0 && tile.second < p.tiles_n * cluster.n);
    int end = 0;
    for (const auto& [begin, part_end] : parts) {
      ASSERT_EQ(begin, end);
      end = part_end;
    }
    ASSERT_EQ(end, p.k_tiles);
  }
}

TEST(TileScheduler, ComputesEachElementOfCOnceWithAllOfKForRandomProblems) {
  std::mt19937 random(20261123);
  for (int i = 0; i < 100000 / 8; ++i) {
    expect_all_of_c_once<ClusterShape<1, 1>, false>(draw(random));
    expect_all_of_c_once<ClusterShape<2, 1>, false>(draw(random));
    expect_all_of_c_once<ClusterShape<1, 2>, false>(draw(random));
    expect_all_of_c_once<ClusterShape<2, 1>, true>(draw(random));
    expect_all_of_c_once<ClusterShape<1, 2>, true>(draw(random));
    expect_all_of_c_once<ClusterShape<1, 1, 2>, false>(draw(random));
    expect_all_of_c_once<ClusterShape<1, 1, 4>, false>(draw(random));
    expect_all_of_c_once<ClusterShape<2, 2, 2>, false>(draw(random));
    if (HasFatalFailure()) return;
    const ClusterExtent extent = ClusterExtent::of(1 << random() % 3, 1 << random() % 2);
    expect_all_of_c_once<LaunchedCluster<1>, false>(draw(random), LaunchedCluster<1>::of(extent));
    expect_all_of_c_once<LaunchedCluster<2>, false>(draw(random), LaunchedCluster<2>::of(extent));
    if (HasFatalFailure()) return;
  }
}

// Ping-pong: two consumers, each with every other work tile, together compute all of them.
TEST(TileScheduler, PingpongConsumersComputeAllWorkTiles) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const Problem p = draw(random);
    const Raster raster(p.tiles_m, p.tiles_n, p.band);
    const TileScheduler<ClusterShape<1, 1>, false> scheduler(raster, raster.tiles(), p.k_tiles, 0,
                                                             p.clusters);
    std::vector<int> all, turns[2], merged;
    for_each_work(scheduler, 0, 1, [&](int index) { all.push_back(index); });
    for (int turn = 0; turn < 2; ++turn)
      for_each_work(scheduler, turn, 2, [&](int index) { turns[turn].push_back(index); });
    for (std::size_t x = 0; x < all.size(); ++x) {
      ASSERT_LT(x / 2, turns[x % 2].size());
      merged.push_back(turns[x % 2][x / 2]);
    }
    ASSERT_EQ(merged, all);
  }
}

TEST(TileScheduler, SplitsTheTailIfItFillsAtMostHalfOfAWave) {
  const auto is = [](TailSplit tail, int whole, int busy) {
    return tail.whole_tiles == whole && tail.busy_clusters == busy;
  };
  EXPECT_TRUE(is(TailSplit::of(688, 66, 128), 660, 66));  // 28 after ten waves
  EXPECT_TRUE(is(TailSplit::of(33, 66, 16), 0, 66));
  EXPECT_TRUE(is(TailSplit::of(34, 66, 16), 34, 34));  // more than half of a wave
  EXPECT_TRUE(is(TailSplit::of(66, 66, 16), 66, 66));
  EXPECT_TRUE(is(TailSplit::of(1, 66, 15), 1, 1));  // the reduction would take longer
}

TEST(TileScheduler, TailSplitFunctionsAreConstantExpressions) {
  static_assert(TailSplit::of(1, 66, 16).busy_clusters == 2);
  static_assert(part_of_k(10, 4, 3).begin == 9 && part_of_k(10, 4, 3).count == 1);
  static_assert(part_of_k(2, 4, 3).begin == 3 && part_of_k(2, 4, 3).count == 1);  // beyond k
}

// For any m, every row of C is a row of exactly one tile of one view.
template <int ViewsOfTile, int Rows>
void expect_each_row_once(int m) {
  using Tiles = RowInterleavedTiles<ViewsOfTile, Rows>;
  std::vector<int> seen(static_cast<std::size_t>(m), 0);
  for (int tile = 0; tile < Tiles::tiles_of(m); ++tile) {
    for (int v = 0; v < ViewsOfTile; ++v) {
      for (int r = 0; r < Rows; ++r) {
        const int row = Tiles::view(tile, v) + 8 * (Tiles::row_in_view(tile) + r);
        if (row < m) ++seen[static_cast<std::size_t>(row)];
      }
    }
  }
  for (const int count : seen) ASSERT_EQ(count, 1) << m;
}
TEST(TileScheduler, ViewsHoldEachRowOnce) {
  for (const int m : {1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1000, 1024, 4095}) {
    expect_each_row_once<2, 64>(m);
    expect_each_row_once<1, 256>(m);
  }
}

// The scheduler of the kernel for unaligned operands: each row of each view with each column and all of k.
void expect_unaligned_c_once(int m, int n, int k, bool aligned, int before, bool shares_b, int clusters) {
  using Config = UnalignedConfig<std::uint16_t, 256, 4>;
  SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k << ", aligned " << aligned << ", before "
                                    << before << ", shares B " << shares_b << ", " << clusters
                                    << " clusters");
  UnalignedArguments p{};
  p.gemm.m = m, p.gemm.n = n, p.gemm.k = k;
  p.rows_apart = aligned ? 1 : 8, p.before = before, p.shares_b = shares_b ? 1 : 0;
  const int rows = 256 * (shares_b ? 2 : 1), columns = 128 * (shares_b ? 1 : 2);
  p.gemm.raster = make_raster(m, n, rows, columns, 3);
  if (!aligned) p.gemm.raster = Raster(RowInterleavedTiles<1, 256>::tiles_of(m), p.gemm.raster.tiles_n(), 3);
  const TailSplit tail = TailSplit::of(p.gemm.raster.tiles(), clusters, (k + 63) / 64);
  p.gemm.whole_tiles = tail.whole_tiles;
  const int k_tiles = UnalignedTileScheduler<Config>::k_tiles(p), skipped = before == 64 ? 1 : 0;
  std::map<std::pair<int, int>, int> multiplied;  // (row, first column of a tile) -> k-tiles
  for (int cta = 0; cta < 2 * tail.busy_clusters; ++cta) {
    const UnalignedTileScheduler<Config> scheduler(p, cta, 2 * tail.busy_clusters);
    for_each_work(scheduler, 0, 1, [&](int index) {
      const UnalignedWorkTile work = scheduler.at(index);
      ASSERT_GE(work.k_begin, skipped);
      ASSERT_LE(work.k_begin + work.k_count, k_tiles);
      ASSERT_EQ(work.is_first, index == scheduler.first());
      for (int r = 0; r < 256; ++r) {
        const int row = work.view + p.rows_apart * (work.row + r);
        if (row < m && work.column < n) multiplied[{row, work.column}] += work.k_count;
      }
    });
  }
  ASSERT_EQ(multiplied.size(), static_cast<std::size_t>(m) * static_cast<std::size_t>((n + 127) / 128));
  for (const auto& [at, count] : multiplied) ASSERT_EQ(count, k_tiles - skipped);
}
TEST(UnalignedTileScheduler, ComputesEachRowOfEachColumnOnceWithAllOfK) {
  std::mt19937 random(11);
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int i = 0; i < 200; ++i) {
    const int m = up_to(1500), n = up_to(700), k = up_to(2000), clusters = up_to(20);
    expect_unaligned_c_once(m, n, k, false, 8, false, clusters);
    expect_unaligned_c_once(m, n, k, true, 8, false, clusters);
    expect_unaligned_c_once(m, n, k, true, 64, false, clusters);
    expect_unaligned_c_once(m, n, k, true, 64, true, clusters);
    if (HasFatalFailure()) return;
  }
}

// A stacked batch: each tile of each problem once, with the A and the B of its own problem.
TEST(StackedTileScheduler, EachTileLoadsItsOwnProblem) {
  for (const auto& [count, tiles_m, tiles_n, ctas] :
       {std::array{1, 1, 1, 4}, {5, 1, 1, 2}, {3, 2, 3, 4}, {7, 3, 2, 132}, {1000, 1, 1, 132}}) {
    const Raster raster(count * tiles_m, tiles_n, tiles_m);
    std::set<std::pair<int, int>> computed;
    for (int cta = 0; cta < ctas; ++cta) {
      const StackedTileScheduler<ClusterShape<1, 1>> scheduler(raster, raster.tiles(), 2, cta, ctas);
      for_each_work(scheduler, 0, 1, [&](int index) {
        const WorkTile work = scheduler.at(index), loaded = scheduler.loaded(work);
        const int problem = work.m / tiles_m;
        EXPECT_TRUE(work.n >= 0 && work.n < tiles_n);
        EXPECT_EQ(loaded.m, work.m) << "the A of the stack";
        EXPECT_EQ(loaded.n, problem * tiles_n + work.n) << "problem " << problem;
        EXPECT_TRUE(computed.emplace(work.m, work.n).second) << work.m << ", " << work.n;
      });
    }
    EXPECT_EQ(computed.size(), static_cast<std::size_t>(count * tiles_m * tiles_n));
  }
}

// Masks and ranks of a cluster: CTAs that share A lie along n, CTAs that share B along m.
template <class Cluster>
void expect_masks() {
  for (int rank = 0; rank < Cluster::ctas; ++rank) {
    unsigned a = 0, b = 0, writers = 0;
    for (int other = 0; other < Cluster::ctas; ++other) {
      if (Cluster::rank_k(other) != Cluster::rank_k(rank)) continue;
      const bool same_m = Cluster::rank_m(other) == Cluster::rank_m(rank);
      const bool same_n = Cluster::rank_n(other) == Cluster::rank_n(rank);
      if (same_m) a |= 1U << other;
      if (same_n) b |= 1U << other;
      if (same_m || same_n) writers |= 1U << other;
    }
    EXPECT_EQ(Cluster::mask_a(rank), a) << rank;
    EXPECT_EQ(Cluster::mask_b(rank), b) << rank;
    unsigned told = 0;
    for (int i = 0; i < Cluster::writers; ++i) told |= 1U << Cluster::writer(rank, i);
    EXPECT_EQ(told, writers) << rank;
  }
}
TEST(ClusterShape, MasksHoldTheCtasThatShareAnOperand) {
  expect_masks<ClusterShape<1, 1>>();
  expect_masks<ClusterShape<2, 1>>();
  expect_masks<ClusterShape<1, 2>>();
  expect_masks<ClusterShape<1, 4>>();
  expect_masks<ClusterShape<2, 2>>();
  expect_masks<ClusterShape<4, 2>>();
  expect_masks<ClusterShape<2, 2, 2>>();
  expect_masks<ClusterShape<1, 1, 4>>();
}

template <int K, int M, int N>
void expect_same_as_compiled() {
  using Compiled = ClusterShape<M, N, K>;
  SCOPED_TRACE(::testing::Message() << M << " x " << N << " x " << K);
  const auto launched = LaunchedCluster<K>::of(ClusterExtent::of(M, N));
  EXPECT_EQ(launched.m, M);
  EXPECT_EQ(launched.n, N);
  EXPECT_EQ(launched.ctas, Compiled::ctas);
  EXPECT_EQ(launched.sharing, Compiled::sharing);
  EXPECT_EQ(launched.writers, Compiled::writers);
  for (int cta = 0; cta < 3 * Compiled::ctas; ++cta) {
    const int rank = launched.rank(cta);
    EXPECT_EQ(rank, Compiled::rank(cta));
    EXPECT_EQ(launched.cluster(cta), Compiled::cluster(cta));
    EXPECT_EQ(launched.rank_m(rank), Compiled::rank_m(rank));
    EXPECT_EQ(launched.rank_n(rank), Compiled::rank_n(rank));
    EXPECT_EQ(launched.rank_k(rank), Compiled::rank_k(rank));
    EXPECT_EQ(launched.rank_sharing(rank), Compiled::rank_sharing(rank));
    EXPECT_EQ(launched.first_sharing(rank), Compiled::first_sharing(rank));
    EXPECT_EQ(launched.mask_a(rank), Compiled::mask_a(rank));
    EXPECT_EQ(launched.mask_b(rank), Compiled::mask_b(rank));
    for (int i = 0; i < Compiled::writers; ++i)
      EXPECT_EQ(launched.writer(rank, i), Compiled::writer(rank, i)) << i;
  }
}

TEST(LaunchedCluster, IsTheClusterShapeOfItsExtent) {
  expect_same_as_compiled<1, 1, 1>();
  expect_same_as_compiled<1, 2, 1>();
  expect_same_as_compiled<1, 1, 4>();
  expect_same_as_compiled<1, 4, 2>();
  expect_same_as_compiled<1, 2, 4>();
  expect_same_as_compiled<1, 8, 1>();
  expect_same_as_compiled<2, 2, 2>();
  expect_same_as_compiled<4, 1, 2>();
}

}  // namespace
}  // namespace tenon
