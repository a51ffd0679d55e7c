// Launches that may use only some of the multiprocessors (LaunchOptions), and clusters whose extent the
// launch says: no grid has more CTAs than it may, every tile is computed once with all of its k, and the
// results are right, in the emulator and on a GPU. And the sentences of refusals.
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gemm/launch_here.hpp"
#include "support/device.hpp"
#include "tenon/gemm/launch_sm80.hpp"
#include "tenon/gemm/launch_sm90.hpp"

namespace tenon {
namespace {

// `Case` distinguishes the kernels of this file.
template <int Case>
struct Plus {
  float addend;
  __device__ float operator()(float accumulator, int, int) const { return accumulator + addend; }
};

template <int M, int N, int Consumers, int Stages, class Cluster, int Subtiles>
using Wgmma = WgmmaConfig<WgmmaOperands<__half, __half, float>, row_major, column_major, TileShape<M, N, 64>,
                          Consumers, Stages, Cluster, Subtiles>;
template <int Case, class Config>
using Kernel90 = sm90::GemmKernel<Config, Plus<Case>>;

using Pair = Kernel90<0, Wgmma<256, 64, 2, 3, ClusterShape<2, 1>, 3>>;
using SplitK = Kernel90<1, Wgmma<64, 64, 1, 4, ClusterShape<1, 1, 4>, 1>>;
using Alone = Kernel90<2, Pingpong<Wgmma<64, 64, 1, 4, ClusterShape<1, 1>, 2>>>;
using Launched = Kernel90<3, Wgmma<128, 208, 2, 3, LaunchedCluster<1>, 1>>;
using Unaligned = sm90::UnalignedGemmKernel<__half, Plus<4>>;
using CpAsync = sm80::GemmKernel<sm80::Config<__half, float, 128, 128>, Plus<5>>;

// Launched, with clusters of M x N CTAs.
template <int M, int N>
struct Clusters : Launched {
  static Status plan(const Product& product, const Op& op, const DeviceDescription& device,
                     Launcher& launcher, Launch* launch) {
    return plan_wgmma<Config>(product, op, device, launcher, launch, ClusterExtent::of(M, N));
  }
};

// The device of the tests as one of 132 multiprocessors.
class Wide final : public Launcher {
 public:
  Status describe(DeviceDescription* device) noexcept override {
    *device = {90, 132, std::size_t{227} << 10, std::size_t{50} << 20};
    return {};
  }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    return test::launcher().make_tensor_map(matrix, box_rows, box_columns, map);
  }
  Status launch(const Launch& launch) noexcept override {
    ctas = launch.grid.x * launch.grid.y * launch.grid.z;
    return test::launcher().launch(launch);
  }
  unsigned ctas = 0;
};

using Problem = GemmProblem<__half, float>;

// An address that is checked, and never dereferenced.
template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}
Problem problem_of(int m, int n, int k) {
  Problem p;
  p.m = m, p.n = n, p.k = k;
  p.a = {at<__half>(4096), k}, p.b = {at<__half>(8192), k}, p.c = {at<float>(65536), n};
  return p;
}

template <class Kernel>
Status plan_limited(const Problem& problem, int limit, Launch* plan) {
  test::NoDevice device;
  LimitedLauncher launcher(device, {limit, true});
  bool launches = false;
  return plan_launch<Kernel>(problem, typename Kernel::Op{}, launcher, plan, &launches);
}

// Runs the scheduler of every CTA of a launch.
template <class Config>
void expect_each_tile_once(const Launch& launch) {
  using Kernel = GemmWgmma<Config>;
  GemmArguments arguments;
  ASSERT_EQ(launch.arguments.size(3), sizeof arguments);
  std::memcpy(&arguments, launch.arguments.data(3), sizeof arguments);
  const auto cluster = Config::Cluster::of(arguments.cluster);
  ASSERT_EQ(launch.grid.x % static_cast<unsigned>(cluster.ctas), 0U);
  ASSERT_EQ(launch.cluster, static_cast<unsigned>(cluster.ctas));
  const int tiles_n = arguments.raster.tiles_n() * cluster.n;
  const int k_tiles = Kernel::Producer::k_tiles(arguments.k);
  std::vector<int> done(static_cast<std::size_t>(arguments.raster.tiles_m() * cluster.m * tiles_n), 0);
  for (int cta = 0; cta < static_cast<int>(launch.grid.x); ++cta) {
    const typename Kernel::Scheduler scheduler(arguments.raster, arguments.whole_tiles, k_tiles, cta,
                                               static_cast<int>(launch.grid.x), cluster);
    for (int i = scheduler.first(); i < scheduler.end(); i += scheduler.step()) {
      const WorkTile work = scheduler.at(i);
      done[static_cast<std::size_t>(work.m * tiles_n + work.n)] += work.k_count;
    }
  }
  for (const int k : done) ASSERT_EQ(k, k_tiles);
}

template <class Kernel>
void expect_grids_within(int cluster) {
  for (const Problem& p :
       {problem_of(1, 8, 512), problem_of(1000, 1504, 1088), problem_of(4096, 4096, 448)}) {
    Launch whole;
    ASSERT_TRUE(plan_limited<Kernel>(p, 0, &whole));
    expect_each_tile_once<typename Kernel::Config>(whole);
    for (int limit = 1; limit <= 132; ++limit) {
      SCOPED_TRACE(::testing::Message() << p.m << " x " << p.n << " x " << p.k << ", limit " << limit);
      Launch plan;
      const Status s = plan_limited<Kernel>(p, limit, &plan);
      if (limit < cluster) {
        ASSERT_EQ(s.code(), StatusCode::unsupported) << s.message();
        continue;
      }
      ASSERT_TRUE(s) << s.message();
      if (limit < 132) ASSERT_LE(plan.grid.x, static_cast<unsigned>(limit));
      if (limit == 132) ASSERT_EQ(plan.grid.x, whole.grid.x);
      expect_each_tile_once<typename Kernel::Config>(plan);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}
TEST(GridsWithinALimit, OfPairsWithTailSplitK) {
  expect_grids_within<Pair>(2);
}
TEST(GridsWithinALimit, OfClusterSplitK) {
  expect_grids_within<SplitK>(4);
}
TEST(GridsWithinALimit, OfSingleCtas) {
  expect_grids_within<Alone>(1);
}
TEST(GridsWithinALimit, OfClustersOfTheLaunch) {
  expect_grids_within<Clusters<1, 1>>(1);
  expect_grids_within<Clusters<2, 1>>(2);
  expect_grids_within<Clusters<2, 2>>(4);
  expect_grids_within<Clusters<1, 8>>(8);
}
// A cluster that finds no room would wait for another one to compute all of its tiles.
TEST(GridsWithinALimit, LargeClustersAreAsFewAsNeedNoMoreWaves) {
  const Problem p = problem_of(128 * 2 * 20, 208 * 2 * 2, 64);  // 40 clusters of 4 CTAs
  const struct { int limit, clusters; } cases[] = {{4, 1}, {15, 3}, {80, 20}, {90, 20}, {112, 20}, {131, 20}};
  for (const auto& x : cases) {
    Launch plan;
    ASSERT_TRUE((plan_limited<Clusters<2, 2>>(p, x.limit, &plan)));
    EXPECT_EQ(plan.grid.x, 4U * static_cast<unsigned>(x.clusters)) << x.limit;
  }
  Launch plan;
  ASSERT_TRUE((plan_limited<Clusters<2, 2>>(p, 0, &plan)));
  EXPECT_EQ(plan.grid.x, 160U) << "one for each tile, where the whole device may be used";
}

// Refusals, which need no device.
template <class Kernel>
void expect_refused(int limit, const char* sentence) {
  Launch plan;
  const Status s = plan_limited<Kernel>(problem_of(1000, 1504, 1088), limit, &plan);
  EXPECT_EQ(s.code(), limit == 500 ? StatusCode::invalid_argument : StatusCode::unsupported);
  EXPECT_STREQ(s.message(), sentence);
}
TEST(LimitRefusal, MoreMultiprocessorsThanThereAre) {
  expect_refused<Pair>(500, "multiprocessors is 500 but must be 0 (all) to 132, which the device has");
}
TEST(LimitRefusal, FewerThanAClusterHas) {
  expect_refused<Pair>(1,
                       "a wgmma kernel (tenon::sm90::GemmKernel) runs in clusters of 2 CTAs but the call may "
                       "use 1 multiprocessors");
  expect_refused<Clusters<2, 2>>(3,
                                 "a wgmma kernel (tenon::sm90::GemmKernel) runs in clusters of 4 CTAs but "
                                 "the call may use 3 multiprocessors");
  expect_refused<Unaligned>(
      1,
      "a wgmma kernel (tenon::sm90::UnalignedGemmKernel) runs in clusters of 2 CTAs but "
      "the call may use 1 multiprocessors");
}
TEST(LimitRefusal, FewerThanTilesOfAKernelThatIsNotPersistent) {
  expect_refused<CpAsync>(
      95,
      "a cp.async kernel (tenon::sm80::GemmKernel) has 96 CTAs here, one for each tile of "
      "128 x 128, but the call may use 95 multiprocessors");
  Launch plan;
  EXPECT_TRUE(plan_limited<CpAsync>(problem_of(1000, 1504, 1088), 96, &plan));
  EXPECT_TRUE(plan_limited<CpAsync>(problem_of(1000, 1504, 0), 1, &plan)) << "k = 0: its grid walks on";
}

// An embedder's extent is checked: with a wrong one the results would be wrong.
template <class Kernel = Launched>
void expect_extent(const ClusterExtent& extent, const char* sentence) {
  test::NoDevice device;
  DeviceDescription description;
  ASSERT_TRUE(device.describe(&description));
  const auto product = product_of(problem_of(512, 512, 64), row_major, column_major);
  Launch launch;
  const Status s = plan_wgmma<typename Kernel::Config>(product, typename Kernel::Op{}, description, device,
                                                       &launch, extent);
  if (sentence == nullptr) {
    EXPECT_TRUE(s) << s.message();
    EXPECT_EQ(launch.cluster, 1U << (extent.log2_m + extent.log2_n));
    return;
  }
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_STREQ(s.message(), sentence);
  EXPECT_EQ(launch.function, nullptr) << "nothing is planned";
}
TEST(ClusterExtentRefusal, AnExtentThatDividesTheTileIsTaken) {
  for (const int m : {1, 2}) {
    for (const int n : {1, 2, 4, 8}) expect_extent(ClusterExtent::of(m, n), nullptr);
  }
  expect_extent(ClusterExtent::of(1, 16), nullptr);
}
TEST(ClusterExtentRefusal, PartsOfLessThanWholeGroupsOfEightRows) {
  expect_extent(
      ClusterExtent::of(4, 1),
      "a cluster has 4 CTAs along m but must have at most 2: each loads a part of the 208 columns of "
      "B in a tile, of a multiple of 8 rows in shared memory");
}
TEST(ClusterExtentRefusal, MoreCtasThanAMulticastReaches) {
  expect_extent(ClusterExtent::of(2, 16), "a cluster of 2 x 16 x 1 has 32 CTAs but must have at most 16");
}
// A stream-K kernel waits for CTAs that run at the same time, and adds up in memory.
void expect_stream_k(int m, int n, std::uintptr_t partial_tiles, const char* sentence) {
  using Config = StreamedK<WgmmaConfig<WgmmaOperands<half, half, float>, row_major, column_major,
                                       TileShape<64, 64, 64>, 1, 2, LaunchedCluster<1>, 1>>;
  test::NoDevice device;
  DeviceDescription description;
  ASSERT_TRUE(device.describe(&description));
  const auto product = product_of(problem_of(512, 512, 64), row_major, column_major);
  Launch launch;
  const Status s = plan_wgmma<Config>(product, LinearCombination{}, description, device, &launch,
                                      ClusterExtent::of(m, n), reinterpret_cast<void*>(partial_tiles));
  EXPECT_STREQ(s.message(), sentence);
  EXPECT_EQ(static_cast<bool>(s), *sentence == '\0');
  EXPECT_EQ(launch.function != nullptr, static_cast<bool>(s)) << "nothing is planned";
}
TEST(StreamKRefusal, MoreCtasInAClusterThanRunAtOnce) {
  expect_stream_k(2, 1, 4096, "");
  expect_stream_k(1, 2, 4096, "");
  expect_stream_k(2, 2, 4096, "a stream-K kernel runs in clusters of 1 or 2 CTAs but this one has 4");
}
TEST(StreamKRefusal, NoMemoryOrNoneThatIsAligned) {
  expect_stream_k(
      1, 1, 0, "a stream-K kernel needs memory for partial tiles, aligned to 16 bytes, but it is at (nil)");
  expect_stream_k(
      1, 1, 4104,
      "a stream-K kernel needs memory for partial tiles, aligned to 16 bytes, but it is at 0x1008");
}

TEST(ClusterExtentRefusal, NumbersThatAreNoExtent) {
  ClusterExtent extent;
  extent.log2_m = -1;
  expect_extent(extent, "the extent of a cluster has log2_m = -1 and log2_n = 0 but each must be 0 to 4");
  extent.log2_m = 0, extent.log2_n = 5;
  expect_extent(extent, "the extent of a cluster has log2_m = 0 and log2_n = 5 but each must be 0 to 4");
  extent.log2_m = 1, extent.log2_n = 1;
  expect_extent(extent,
                "the extent of a cluster of 2 x 2 CTAs has along_n = 0x1 but must have 0x5, as "
                "ClusterExtent::of() makes it");
}
TEST(ClusterExtentRefusal, ACompiledClusterTakesNone) {
  test::NoDevice device;
  Launch launch;
  const auto product = product_of(problem_of(512, 512, 64), row_major, column_major);
  const DeviceDescription description{90, 132, std::size_t{227} << 10, std::size_t{50} << 20};
  EXPECT_TRUE(
      plan_wgmma<Pair::Config>(product, Pair::Op{}, description, device, &launch, ClusterExtent::of(8, 8)));
  EXPECT_EQ(launch.cluster, 2U);
}

class WithinALimit : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }

  template <class Kernel, int Case>
  Status launch(const Problem& p, int limit) {
    const typename Kernel::Op op{0.25F};
    if (!test::emulated()) return tenon::launch<Kernel>(p, op, nullptr, {limit, true});
    Wide wide;
    LimitedLauncher launcher(wide, {limit, true});
    Launch plan;
    bool launches = false;
    if (Status s = plan_launch<Kernel>(p, op, launcher, &plan, &launches); !s) return s;
    const std::string entry = test::entry_with("4PlusILi" + std::to_string(Case) + "E", p.k == 0);
    plan.ptx = TENON_LAUNCH_TEST_PTX;
    plan.entry = entry.c_str();
    const Status s = launcher.launch(plan);
    EXPECT_LE(wide.ctas, static_cast<unsigned>(limit));
    return s;
  }

  // cluster: CTAs of the smallest grid.
  template <class Kernel, int Case>
  void expect_right(int m, int n, int k, int cluster, int pad = 0) {
    std::mt19937 random(11);
    const int ld = k + (8 - k % 8) % 8 + pad;
    std::vector<__half> a(static_cast<std::size_t>(m) * ld), b(static_cast<std::size_t>(n) * ld);
    std::vector<int> of_a(a.size()), of_b(b.size());
    const auto fill = [&](std::vector<__half>& matrix, std::vector<int>& values) {
      for (std::size_t i = 0; i < matrix.size(); ++i) {
        values[i] = static_cast<int>(random() % 5) - 2;
        matrix[i] = __half(static_cast<float>(values[i]));
      }
    };
    fill(a, of_a), fill(b, of_b);
    const test::Buffer<__half> device_a(a), device_b(b);
    Problem p = problem_of(m, n, k);
    p.a = {device_a.get(), ld}, p.b = {device_b.get(), ld};
    std::vector<float> expected;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const int* const row = of_a.data() + static_cast<std::size_t>(i) * ld;
        const int* const column = of_b.data() + static_cast<std::size_t>(j) * ld;
        int sum = 0;
        for (int x = 0; x < k; ++x) sum += row[x] * column[x];
        expected.push_back(static_cast<float>(sum) + 0.25F);
      }
    }
    for (const int limit : {1, 2, 7, 16, 66}) {
      SCOPED_TRACE(::testing::Message() << "case " << Case << ", limit " << limit);
      const test::Buffer<float> device_c(std::vector<float>(static_cast<std::size_t>(m) * n, -77.0F));
      p.c = {device_c.get(), n};
      const Status s = launch<Kernel, Case>(p, limit);
      if (limit < cluster) {
        EXPECT_EQ(s.code(), StatusCode::unsupported) << s.message();
        continue;
      }
      ASSERT_TRUE(s) << s.message();
      const std::vector<float> got = device_c.read();
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], expected[i]) << "row " << i / n << ", column " << i % n;
    }
  }
};
TEST_F(WithinALimit, PairsWithTailSplitK) {
  expect_right<Pair, 0>(300, 400, 1040, 2);
}
TEST_F(WithinALimit, ClusterSplitK) {
  expect_right<SplitK, 1>(100, 152, 300, 4);
}
TEST_F(WithinALimit, SingleCtas) {
  expect_right<Alone, 2>(200, 136, 72, 1);
}
TEST_F(WithinALimit, ClustersOfTheLaunch) {
  expect_right<Clusters<1, 1>, 3>(300, 432, 136, 1);
  expect_right<Clusters<2, 1>, 3>(300, 432, 136, 2);
  expect_right<Clusters<1, 2>, 3>(300, 432, 136, 2);
  expect_right<Clusters<2, 2>, 3>(600, 432, 136, 4);
  expect_right<Clusters<1, 4>, 3>(300, 1700, 40, 4);
}
TEST_F(WithinALimit, UnalignedOperands) {
  expect_right<Unaligned, 4>(300, 270, 131, 2, 3);
}
TEST_F(WithinALimit, WithoutK) {
  expect_right<Alone, 2>(40, 500, 0, 1);
}

}  // namespace
}  // namespace tenon
