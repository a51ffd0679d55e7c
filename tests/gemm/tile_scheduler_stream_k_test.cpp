// The stream-K scheduler on the host: for random problems each tile of C is computed with each k-tile once,
// every CTA sends the first part of its work alone, and who adds up a tile waits for exactly the CTAs that
// send parts of it.
#include "tenon/gemm/tile_scheduler_stream_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace tenon {
namespace {

struct Problem {
  int tiles_m, tiles_n, band, k_tiles, clusters;  // cluster tiles; clusters that run at once
  bool from_memory;
};

struct Part {
  int begin, end, cluster;
  bool is_sent;
  int received;  // of a part that is not sent
};

template <class Cluster>
void expect_all_of_c_once(const Problem& p, const Cluster& cluster) {
  SCOPED_TRACE(::testing::Message() << p.tiles_m << " x " << p.tiles_n << " cluster tiles in bands of "
                                    << p.band << ", " << p.k_tiles << " k-tiles, " << p.clusters
                                    << " clusters of " << cluster.m << " x " << cluster.n);
  const Raster raster(p.tiles_m, p.tiles_n, p.band);
  const auto [whole, pieces] = StreamK::of(raster.tiles(), p.clusters, p.k_tiles, p.from_memory);
  ASSERT_TRUE(whole >= 0 && whole <= raster.tiles());
  const int clusters = whole < raster.tiles() ? p.clusters : std::min(raster.tiles(), p.clusters);
  std::map<std::pair<int, int>, std::vector<Part>> parts;
  std::int64_t most = 0;
  for (int cta = 0; cta < clusters * cluster.ctas; ++cta) {
    const StreamKTileScheduler<Cluster> scheduler(raster, whole, pieces, p.k_tiles, cta,
                                                  clusters * cluster.ctas, cluster);
    std::int64_t k_tiles = 0;
    bool had_whole = false;
    for_each_work(scheduler, 0, 1, [&](int index) {
      const WorkTile work = scheduler.at(index);
      ASSERT_GE(work.k_count, 1);
      ASSERT_LE(work.k_begin + work.k_count, p.k_tiles);
      ASSERT_FALSE(work.tail_split);
      ASSERT_TRUE(index == 0 || !scheduler.is_sent(work)) << "a CTA has a place for one part";
      const bool is_whole = work.k_count == p.k_tiles;
      ASSERT_FALSE(had_whole && !is_whole && scheduler.is_sent(work)) << "others wait for it";
      had_whole = had_whole || is_whole;
      k_tiles += work.k_count;
      parts[{work.m, work.n}].push_back({work.k_begin, work.k_begin + work.k_count, cluster.cluster(cta),
                                         scheduler.is_sent(work),
                                         scheduler.is_sent(work) ? 0 : scheduler.received_parts(work)});
    });
    if (::testing::Test::HasFatalFailure()) return;
    most = std::max(most, k_tiles);
  }
  ASSERT_EQ(parts.size(), static_cast<std::size_t>(p.tiles_m * cluster.m) *
                              static_cast<std::size_t>(p.tiles_n * cluster.n));
  for (auto& [tile, of] : parts) {
    std::sort(of.begin(), of.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
    int end = 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
      ASSERT_EQ(of[i].begin, end);
      end = of[i].end;
      ASSERT_EQ(of[i].is_sent, i > 0);
      // The CTA that adds up finds part i so many clusters before its own.
      ASSERT_EQ(of[i].cluster, of[0].cluster - static_cast<int>(i));
    }
    ASSERT_EQ(end, p.k_tiles);
    ASSERT_EQ(of[0].received, static_cast<int>(of.size()) - 1);
  }
  // The work is even: whole waves and an equal share, of pieces that may differ by a k-tile.
  const int share = StreamK::share(raster.tiles() - whole, clusters, pieces);
  ASSERT_LE(most, (whole + clusters - 1) / clusters * p.k_tiles + share * (p.k_tiles / pieces + 1));
}

TEST(StreamKTileScheduler, ComputesEachElementOfCOnceWithAllOfKForRandomProblems) {
  std::mt19937 random(20261125);
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  int streamed = 0;
  for (int i = 0; i < 30000; ++i) {
    const int most = random() % 2 == 0 ? 3 : 14;
    const Problem p = {up_to(most), up_to(most),      up_to(14), random() % 4 == 0 ? up_to(300) : up_to(60),
                       up_to(132),  random() % 2 == 0};
    const int tiles = p.tiles_m * p.tiles_n;
    streamed +=
        static_cast<int>(StreamK::of(tiles, p.clusters, p.k_tiles, p.from_memory).whole_tiles < tiles);
    expect_all_of_c_once(p, ClusterShape<2, 1>{});
    expect_all_of_c_once(p, LaunchedCluster<1>::of(ClusterExtent::of(1, 1 << random() % 2)));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(streamed, 10000);
}

TEST(StreamKTileScheduler, DividesWhatWouldNotFillAWave) {
  const auto is = [](StreamK division, int whole, int pieces) {
    return division.whole_tiles == whole && division.pieces == pieces;
  };
  EXPECT_TRUE(is(StreamK::of(132, 66, 100, false), 132, 1));  // two whole waves
  EXPECT_TRUE(is(StreamK::of(33, 66, 100, false), 0, 2));     // half a tile for each cluster
  EXPECT_TRUE(is(StreamK::of(33, 66, 10, false), 33, 1));     // saves less than the reduction takes
  EXPECT_TRUE(is(StreamK::of(65, 66, 100, false), 65, 1));
  EXPECT_TRUE(is(StreamK::of(45, 66, 100, true), 45, 1));  // would read the operands from memory too often
  const StreamK most = StreamK::of(45, 66, 100, false);
  EXPECT_EQ(most.whole_tiles, 0);
  EXPECT_LE(StreamK::share(45, 66, most.pieces) * 100, 75 * most.pieces);  // 68 k-tiles would be even
  static_assert(StreamK::of(33, 66, 100, false).pieces == 2);
}

}  // namespace
}  // namespace tenon
