// Calls that may use only some of the multiprocessors, and calls whose launches do not overlap what runs
// before them, on an H200 that launches nothing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gemm/select.hpp"
#include "host/gemm_batched_on.hpp"
#include "host/gemm_grouped_on.hpp"
#include "host/gemm_on.hpp"
#include "host/gemm_prepared_on.hpp"
#include "host/kernel_list.hpp"
#include "host/plan.hpp"
#include "tenon/gemm/launch_options.hpp"

namespace tenon {
namespace {

using test::a100;
using test::h200;
using test::problem;

template <class T = void>
T* address(std::uintptr_t at) {
  return reinterpret_cast<T*>(at);  // NOLINT(performance-no-int-to-ptr): never read through
}

// Keeps what it is asked to launch.
class KeepingDevice final : public LoadingLauncher {
 public:
  explicit KeepingDevice(const DeviceDescription& description = h200) : description_(description) {}

  Status describe(DeviceDescription* device) noexcept override {
    *device = description_;
    return {};
  }
  Status make_tensor_map(const MatrixInMemory&, int, int, TensorMap* map) noexcept override {
    *map = {};
    return {};
  }
  Status launch(const Launch& launch) noexcept override {
    launches.push_back(
        {launch.what, launch.grid.x * launch.grid.y * launch.grid.z, launch.overlaps_previous});
    return {};
  }
  Status identify(DeviceIdentity* identity) noexcept override {
    *identity = {};
    return {};
  }
  Status load(const Launch&) noexcept override { return {}; }
  Status launch_loaded(const Launch& of) noexcept override { return launch(of); }
  Status replace_address(const void*, TensorMap*) noexcept override { return {}; }

  struct Kept {
    std::string what;
    unsigned ctas;
    bool overlaps;
  };
  std::vector<Kept> launches;

  unsigned most_ctas() const {
    unsigned most = 0;
    for (const Kept& x : launches) most = x.ctas > most ? x.ctas : most;
    return most;
  }

 private:
  DeviceDescription description_;
};

// With the workspace that it runs fastest with.
Status run(KeepingDevice& device, Gemm p) {
  p.workspace_bytes = workspace_size(device, p);
  if (p.workspace_bytes != 0) p.workspace = address(std::uintptr_t{4} << 40);
  return gemm(device, p);
}

Gemm with_layout(Gemm p, Order a, Order b) {
  p.a.order = a, p.a.ld = a == row_major ? p.k : p.m;
  p.b.order = b, p.b.ld = b == row_major ? p.n : p.k;
  return p;
}
Gemm of_f32(Gemm p, Precision precision) {
  p.a.type = p.b.type = Type::f32;
  p.precision = precision;
  return p;
}

// Products that any number of multiprocessors computes.
std::vector<Gemm> any_limit() {
  std::vector<Gemm> list = {problem(4096, 4096, 4096),
                            problem(64, 64, 64),
                            problem(16, 6144, 4096),
                            problem(4096, 4096, 4096, Type::bf16),
                            problem(2048, 1024, 8192, Type::e4m3),
                            problem(2048, 1024, 8192, Type::s8),
                            problem(2048, 1024, 8192, Type::tf32),
                            problem(4095, 4095, 4095),
                            problem(511, 509, 507, Type::e4m3),
                            problem(3000, 4000, 0),
                            of_f32(problem(2048, 2048, 2048), Precision::tf32x3),
                            of_f32(problem(2048, 2048, 2048), Precision::bf16x3),
                            of_f32(problem(1023, 1021, 1019), Precision::bf16)};
  list[9].beta = 0.5;
  for (const Order a : {row_major, column_major}) {
    for (const Order b : {row_major, column_major}) {
      list.push_back(with_layout(problem(1000, 2000, 3000), a, b));
      list.push_back(with_layout(problem(1001, 2003, 3001), a, b));  // copies, transposed ones too
    }
  }
  Gemm fused = problem(3000, 4000, 512);
  fused.epilogue.bias = {address(std::uintptr_t{5} << 40), Type::f32};
  list.push_back(fused);
  fused.k = 0;
  list.push_back(fused);
  return list;
}

TEST(Multiprocessors, NoLaunchOfAProductHasMoreCtas) {
  for (const Gemm& p : any_limit()) {
    for (const int limit : {2, 3, 7, 16, 66, 100, 131}) {
      SCOPED_TRACE(std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) + " " +
                   name(p.a.type) + ", limit " + std::to_string(limit));
      Gemm limited = p;
      limited.multiprocessors = limit;
      KeepingDevice device;
      const Status s = run(device, limited);
      ASSERT_TRUE(s) << s.message();
      EXPECT_FALSE(device.launches.empty());
      for (const KeepingDevice::Kept& x : device.launches)
        EXPECT_LE(x.ctas, static_cast<unsigned>(limit)) << x.what;
    }
  }
}

TEST(Multiprocessors, OneIsEnoughForSixteenBits) {
  for (const Gemm& p :
       {problem(4096, 4096, 4096), problem(100, 200, 64), problem(4096, 512, 96, Type::bf16)}) {
    Gemm limited = p;
    limited.multiprocessors = 1;
    KeepingDevice device;
    const Status s = run(device, limited);
    ASSERT_TRUE(s) << s.message();
    EXPECT_EQ(device.most_ctas(), 1U);
  }
}

TEST(Multiprocessors, AllOfThemAreNoLimit) {
  KeepingDevice device;
  Gemm p = problem(4096, 4096, 4096);
  const std::string without = kernel_name(device, p);
  p.multiprocessors = h200.multiprocessors;
  EXPECT_EQ(kernel_name(device, p), without);
  ASSERT_TRUE(run(device, p));
}

// 2048 x 2048 in tiles of 128 x 256 is a wave of 128 CTAs on 132 multiprocessors, but two on 66.
TEST(Multiprocessors, TheChoiceSeesTheLimit) {
  DeviceDescription half = h200;
  ASSERT_TRUE(limit_multiprocessors(66, &half));
  int differ = 0;
  for (std::int64_t m = 256; m <= 4096; m += 256) {
    const Gemm p = problem(m, 2048, 4096);
    const Kernel *whole = select_kernel(p, h200), *best = select_kernel(p, half);
    ASSERT_TRUE(whole != nullptr && best != nullptr);
    EXPECT_LE(estimated_cost(*best, p, half), estimated_cost(*whole, p, half));
    differ += best != whole ? 1 : 0;
    // A half of the device takes about twice the time of a large product.
    if (m < 2048) continue;
    const double ratio = modelled_cost(*best, p, half) / modelled_cost(*whole, p, h200);
    EXPECT_GT(ratio, 1.45) << m;
    EXPECT_LT(ratio, 2.3) << m;
  }
  EXPECT_GT(differ, 0);
  Gemm p = problem(2048, 2048, 4096);
  p.multiprocessors = 66;
  KeepingDevice device;
  EXPECT_EQ(kernel_name(device, p), select_kernel(p, half)->name);
}

void expect_refused(KeepingDevice& device, const Gemm& p, StatusCode code, const std::string& sentence) {
  const Status statuses[] = {can_implement(device, p), gemm(device, p)};
  for (const Status& s : statuses) {
    EXPECT_EQ(s.code(), code);
    EXPECT_EQ(s.message(), sentence);
  }
  EXPECT_EQ(kernel_name(device, p), nullptr);
  EXPECT_TRUE(device.launches.empty());
  PreparedGemm prepared;
  const Status s = PreparedGemmAccess::prepare(device, p, &prepared);
  EXPECT_EQ(s.code(), code);
  EXPECT_EQ(s.message(), sentence);
}

TEST(MultiprocessorsRefusal, ANegativeNumber) {
  KeepingDevice device;
  Gemm p = problem(64, 64, 64);
  p.multiprocessors = -1;
  expect_refused(device, p, StatusCode::invalid_argument,
                 "multiprocessors is -1 but must be >= 0, which stands for all");
  p.m = 0;
  EXPECT_EQ(gemm(device, p).code(), StatusCode::invalid_argument) << "also where there is nothing to compute";
}

TEST(MultiprocessorsRefusal, MoreThanTheDeviceHas) {
  KeepingDevice device;
  Gemm p = problem(64, 64, 64);
  p.multiprocessors = 133;
  expect_refused(device, p, StatusCode::invalid_argument,
                 "multiprocessors is 133 but must be 0 (all) to 132, which the device has");
}

TEST(MultiprocessorsRefusal, FewerThanTheClusterOfTheNamedKernel) {
  KeepingDevice device;
  Gemm p = problem(4096, 4096, 4096);
  p.kernel = "wgmma_f16_f32_tn_128x256x64_s4_c2x1";
  p.multiprocessors = 1;
  expect_refused(
      device, p, StatusCode::unsupported,
      "kernel wgmma_f16_f32_tn_128x256x64_s4_c2x1 runs in clusters of 2 CTAs but the call may use 1 "
      "multiprocessors");
  p.multiprocessors = 2;
  EXPECT_TRUE(gemm(device, p));
}

TEST(MultiprocessorsRefusal, FewerThanTilesWhereNoKernelIsPersistent) {
  KeepingDevice device(a100);
  Gemm p = problem(4096, 4096, 4096);
  p.multiprocessors = 100;
  Status s = gemm(device, p);
  EXPECT_EQ(s.code(), StatusCode::unsupported);
  EXPECT_NE(std::string(s.message()).find("CTAs here, 1 for each tile of "), std::string::npos)
      << s.message();
  EXPECT_NE(std::string(s.message()).find("but the call may use 100 multiprocessors"), std::string::npos)
      << s.message();
  p = problem(640, 640, 4096);
  p.multiprocessors = 100;
  s = gemm(device, p);
  ASSERT_TRUE(s) << s.message();
  EXPECT_LE(device.most_ctas(), 100U);
}

TEST(Multiprocessors, APreparedProductKeepsTheLimit) {
  for (const Gemm& p : {problem(4096, 4096, 4096), problem(511, 509, 507, Type::e4m3)}) {
    KeepingDevice device;
    Gemm limited = p;
    limited.multiprocessors = 10;
    limited.overlaps_previous = false;
    limited.workspace_bytes = workspace_size(device, limited);
    if (limited.workspace_bytes != 0) limited.workspace = address(std::uintptr_t{4} << 40);
    PreparedGemm prepared;
    ASSERT_TRUE(PreparedGemmAccess::prepare(device, limited, &prepared));
    EXPECT_STREQ(prepared.kernel_name(), kernel_name(device, limited));
    GemmPointers x;
    for (const std::uintptr_t a : {7, 8, 8}) {
      x.a = address(a << 40);
      ASSERT_TRUE(PreparedGemmAccess::run(device, prepared, x));
    }
    EXPECT_GE(device.launches.size(), 3U);
    for (const KeepingDevice::Kept& launch : device.launches) {
      EXPECT_LE(launch.ctas, 10U) << launch.what;
      EXPECT_FALSE(launch.overlaps) << launch.what;
    }
  }
}

TEST(Overlap, IsSwitchedOffForEveryLaunch) {
  for (const Gemm& p : any_limit()) {
    KeepingDevice overlapping, apart;
    ASSERT_TRUE(run(overlapping, p));
    Gemm switched = p;
    switched.overlaps_previous = false;
    ASSERT_TRUE(run(apart, switched));
    ASSERT_EQ(apart.launches.size(), overlapping.launches.size());
    for (std::size_t i = 0; i < apart.launches.size(); ++i) {
      EXPECT_EQ(apart.launches[i].what, overlapping.launches[i].what);
      EXPECT_EQ(apart.launches[i].ctas, overlapping.launches[i].ctas);
      EXPECT_FALSE(apart.launches[i].overlaps);
    }
  }
  KeepingDevice device;
  ASSERT_TRUE(run(device, problem(4096, 4096, 4096)));
  EXPECT_TRUE(device.launches[0].overlaps);
}

TEST(Overlap, IsLeftOutWhereFewCtasLoadMuch) {
  const auto overlaps = [](std::int64_t m, std::int64_t n, std::int64_t k, const char* kernel, unsigned ctas,
                           int limit = 0) {
    Gemm p = problem(m, n, k);
    p.kernel = kernel;
    p.multiprocessors = limit;
    KeepingDevice device;
    const Status s = gemm(device, p);
    EXPECT_TRUE(s) << s.message();
    if (!s) return false;
    EXPECT_EQ(device.launches[0].ctas, ctas);
    return device.launches[0].overlaps;
  };
  const char* const split = "wgmma_f16_f32_tn_32x128x64_s8_splitk4_swapab";
  const char* const whole = "wgmma_f16_f32_tn_64x64x64_s12";
  EXPECT_FALSE(overlaps(8, 2032, 10704, split, 64));     // 44 MB, the L2 of this device has 52
  EXPECT_FALSE(overlaps(8, 2032, 4288, split, 64));      // 17,495,040 bytes, and a third is 17,476,266
  EXPECT_TRUE(overlaps(8, 2032, 4280, split, 64));       // 17,462,400
  EXPECT_FALSE(overlaps(8, 99 * 64, 2048, whole, 99));   // three quarters of 132 multiprocessors
  EXPECT_TRUE(overlaps(8, 100 * 64, 2048, whole, 100));  // more
  EXPECT_TRUE(overlaps(8, 8192, 2048, whole, 64, 64));   // all that the call may use
  EXPECT_FALSE(overlaps(8, 48 * 64, 4096, whole, 48, 64));
}

TEST(Overlap, OfOperandsThatNoTensorMapDescribesIsAsItWas) {
  Gemm p = problem(8, 248, 40000);  // 20 MB
  p.a.ld += 1, p.b.ld += 1;
  KeepingDevice device;
  ASSERT_TRUE(gemm(device, p));
  ASSERT_EQ(device.launches.size(), 1U);
  EXPECT_NE(device.launches[0].what.find("unaligned"), std::string::npos);
  EXPECT_LE(device.launches[0].ctas, 99U);
  EXPECT_TRUE(device.launches[0].overlaps);
}

BatchedGemm batch_of(std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k) {
  BatchedGemm batch;
  batch.problem = problem(m, n, k);
  batch.count = count;
  batch.stride_a = m * k, batch.stride_b = n * k, batch.stride_c = m * n;
  return batch;
}

TEST(Multiprocessors, OfBatches) {
  // Stacked, small, and small that only `direct` would be faster for.
  for (const BatchedGemm& batch : {batch_of(1000, 128, 256, 512), batch_of(1000, 64, 64, 64),
                                   batch_of(5000, 16, 32, 16), batch_of(5000, 30, 20, 25)}) {
    for (const int limit : {1, 2, 7, 66, 131}) {
      SCOPED_TRACE(std::to_string(batch.problem.m) + ", limit " + std::to_string(limit));
      BatchedGemm limited = batch;
      limited.problem.multiprocessors = limit;
      limited.problem.overlaps_previous = false;
      KeepingDevice device;
      const Status s = gemm_batched(device, limited);
      ASSERT_TRUE(s) << s.message();
      ASSERT_EQ(device.launches.size(), 1U);
      EXPECT_LE(device.launches[0].ctas, static_cast<unsigned>(limit)) << device.launches[0].what;
      EXPECT_FALSE(device.launches[0].overlaps);
      EXPECT_EQ(kernel_name(device, limited), device.launches[0].what);
    }
  }
  KeepingDevice device;
  BatchedGemm batch = batch_of(1000, 100, 100, 100);
  batch.problem.multiprocessors = 131;
  Status s = gemm_batched(device, batch);
  EXPECT_EQ(s.code(), StatusCode::unsupported);
  EXPECT_STREQ(
      s.message(),
      "the call may use 131 multiprocessors, but the kernels for such a batch have a CTA for each tile "
      "of 1000 problems");
  batch.count = 100;
  s = gemm_batched(device, batch);
  EXPECT_TRUE(s) << s.message();
  batch.problem.multiprocessors = 1000;
  EXPECT_EQ(gemm_batched(device, batch).code(), StatusCode::invalid_argument);
}

GroupedGemm grouped(Type type = Type::bf16) {
  GroupedGemm p;
  p.groups = 8, p.m = 2048, p.n = 1024, p.k = 512;
  p.a = {address(std::uintptr_t{1} << 40), 512, row_major, type};
  p.b = {address(std::uintptr_t{2} << 40), 512, column_major, type};
  p.b_stride = 1024 * 512;
  p.c = {address(std::uintptr_t{3} << 40), 1024, Type::bf16};
  p.sizes = address<std::int32_t>(std::uintptr_t{5} << 40);
  return p;
}

TEST(Multiprocessors, OfGroups) {
  for (const int limit : {2, 7, 66, 131}) {
    KeepingDevice device;
    GroupedGemm p = grouped();
    p.multiprocessors = limit;
    p.overlaps_previous = false;
    const Status s = gemm_grouped(device, p);
    ASSERT_TRUE(s) << s.message();
    EXPECT_LE(device.most_ctas(), static_cast<unsigned>(limit));
    EXPECT_FALSE(device.launches[0].overlaps);
  }
  KeepingDevice device;
  GroupedGemm p = grouped();
  p.multiprocessors = 133;
  EXPECT_EQ(gemm_grouped(device, p).code(), StatusCode::invalid_argument);
  p.multiprocessors = -5;
  EXPECT_STREQ(gemm_grouped(device, p).message(),
               "multiprocessors is -5 but must be >= 0, which stands for all");
  EXPECT_TRUE(device.launches.empty());
}

TEST(Multiprocessors, OfScaledProducts) {
  ScaledGemm p;
  p.m = 2048, p.n = 1024, p.k = 512;
  p.a = {address(std::uintptr_t{1} << 40), 512, row_major, Type::e4m3};
  p.b = {address(std::uintptr_t{2} << 40), 512, column_major, Type::e4m3};
  p.c = {address(std::uintptr_t{3} << 40), 1024, Type::bf16};
  p.overlaps_previous = false;
  for (const ScaleMode mode : {ScaleMode::per_tensor, ScaleMode::block_1x128_128x128}) {
    p.mode = mode;
    p.scale_a = {address<float>(std::uintptr_t{5} << 40), 2048};
    p.scale_b = {address<float>(std::uintptr_t{6} << 40), 4};
    for (const int limit : {1, 2, 7, 66, 131}) {
      KeepingDevice device;
      p.multiprocessors = limit;
      const Status s = gemm(device, p);
      if (mode == ScaleMode::per_tensor && limit == 1) continue;  // no such kernel is without a cluster
      ASSERT_TRUE(s) << s.message();
      EXPECT_LE(device.most_ctas(), static_cast<unsigned>(limit)) << device.launches[0].what;
      EXPECT_FALSE(device.launches[0].overlaps);
    }
  }
}

}  // namespace
}  // namespace tenon
