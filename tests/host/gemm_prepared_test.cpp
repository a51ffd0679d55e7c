// Prepared products on a device that launches nothing: what is decided and encoded again, and what is
// refused.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "host/gemm_on.hpp"
#include "host/gemm_prepared_on.hpp"
#include "host/kernel_list.hpp"

namespace tenon {
namespace {

using test::problem;

// An H200 that counts what it is asked for.
class CountingDevice final : public LoadingLauncher {
 public:
  Status describe(DeviceDescription* device) noexcept override {
    ++described;
    *device = test::h200;
    return {};
  }
  Status make_tensor_map(const MatrixInMemory& matrix, int, int, TensorMap* map) noexcept override {
    ++maps;
    map->opaque[0] = reinterpret_cast<std::uintptr_t>(matrix.data);
    return {};
  }
  Status launch(const Launch&) noexcept override { return Status(StatusCode::cuda_error, "not loaded"); }
  Status identify(DeviceIdentity* of) noexcept override {
    *of = identity;
    return {};
  }
  Status load(const Launch& launch) noexcept override {
    if (refusals-- > 0) return Status(StatusCode::device_unsupported, "%s is refused", launch.what);
    loaded.emplace_back(launch.what);
    return {};
  }
  Status launch_loaded(const Launch& launch) noexcept override {
    ++launches;
    what = launch.what;
    first_map = *static_cast<const std::uint64_t*>(launch.arguments.data(0));
    return {};
  }
  Status replace_address(const void* data, TensorMap* map) noexcept override {
    if (!replaces) return Status(StatusCode::device_unsupported, "not replaced");
    ++replaced;
    map->opaque[0] = reinterpret_cast<std::uintptr_t>(data);
    return {};
  }

  DeviceIdentity identity{1, 5};
  int refusals = 0;
  bool replaces = true;
  std::vector<std::string> loaded;
  std::atomic<int> described{0}, maps{0}, replaced{0}, launches{0};
  std::string what;
  std::uint64_t first_map = 0;
};

Status run(CountingDevice& device, const PreparedGemm& prepared, const GemmPointers& pointers = {}) {
  return PreparedGemmAccess::run(device, prepared, pointers);
}
PreparedGemm prepared_on(CountingDevice& device, const Gemm& p) {
  PreparedGemm prepared;
  const Status s = PreparedGemmAccess::prepare(device, p, &prepared);
  EXPECT_TRUE(s) << s.message();
  return prepared;
}
template <class T = void>
T* address(std::uintptr_t at) {
  return reinterpret_cast<T*>(at);
}

TEST(PreparedGemm, RunsTheKernelThatGemmChooses) {
  for (const std::int64_t size : {64, 1000, 4096}) {
    CountingDevice device;
    const Gemm p = problem(size, size, size);
    const PreparedGemm prepared = prepared_on(device, p);
    EXPECT_EQ(device.launches, 0);
    ASSERT_EQ(device.loaded.size(), 1U);
    EXPECT_STREQ(prepared.kernel_name(), kernel_name(device, p));
    ASSERT_TRUE(run(device, prepared));
    EXPECT_EQ(device.launches, 1);
    EXPECT_EQ(device.what, device.loaded[0]);
    EXPECT_EQ(device.what, prepared.kernel_name());
  }
}

TEST(PreparedGemm, TheSamePointersAreNotLookedAtAgain) {
  CountingDevice device;
  const PreparedGemm prepared = prepared_on(device, problem(512, 512, 512));
  GemmPointers x;
  x.a = address(std::uintptr_t{7} << 40);
  for (const GemmPointers& pointers : {x, x, GemmPointers(), x}) {
    ASSERT_TRUE(run(device, prepared, pointers));
    EXPECT_EQ(device.first_map, std::uint64_t{pointers.a == nullptr ? 1U : 7U} << 40);
  }
  EXPECT_EQ(device.launches, 4);
  device.identity.context = 9;
  EXPECT_EQ(run(device, prepared, x).code(), StatusCode::invalid_argument)
      << "the device is always looked at";
  EXPECT_EQ(device.launches, 4);
}

TEST(PreparedGemm, ReplacesTheAddressesOfNewPointersAlone) {
  CountingDevice device;
  const Gemm p = problem(1024, 1024, 1024);
  const PreparedGemm prepared = prepared_on(device, p);
  const int encoded = device.maps;
  EXPECT_GE(encoded, 3);
  ASSERT_TRUE(run(device, prepared));
  EXPECT_EQ(device.replaced, 0) << "the pointers of prepare()";
  const GemmPointers elsewhere{address(std::uintptr_t{7} << 40)};
  ASSERT_TRUE(run(device, prepared, elsewhere));
  const int of_a = device.replaced;
  EXPECT_GE(of_a, 1);
  EXPECT_LT(of_a, encoded) << "B and C are where they were";
  EXPECT_EQ(device.first_map, std::uint64_t{7} << 40);
  ASSERT_TRUE(run(device, prepared, elsewhere));
  EXPECT_EQ(device.replaced, of_a) << "the same pointers again";
  ASSERT_TRUE(run(device, prepared));
  EXPECT_EQ(device.first_map, std::uint64_t{1} << 40) << "those of prepare() again";
  EXPECT_EQ(device.replaced, 2 * of_a);
  EXPECT_EQ(device.maps, encoded);
  EXPECT_EQ(device.described, 1) << "of prepare()";
}

// TMA stores an aux that is written and loads one that is read, through a map of its own.
TEST(PreparedGemm, ReplacesTheAddressOfAux) {
  for (const Activation activation : {Activation::gelu, Activation::dgelu}) {
    CountingDevice device;
    Gemm p = problem(4096, 4096, 1024, Type::bf16);
    p.d = {address(std::uintptr_t{4} << 40), 4096, Type::bf16};
    p.epilogue.activation = activation;
    p.epilogue.aux = {address(std::uintptr_t{5} << 40), 4096, Type::bf16};
    const PreparedGemm prepared = prepared_on(device, p);
    const int encoded = device.maps;
    ASSERT_TRUE(run(device, prepared));
    EXPECT_EQ(device.replaced, 0);
    GemmPointers elsewhere;
    elsewhere.aux = address(std::uintptr_t{6} << 40);
    ASSERT_TRUE(run(device, prepared, elsewhere));
    EXPECT_EQ(device.replaced, 1) << "the map of aux";
    ASSERT_TRUE(run(device, prepared));
    EXPECT_EQ(device.replaced, 2) << "that of prepare() again";
    EXPECT_EQ(device.maps, encoded);
    elsewhere.aux = address((std::uintptr_t{6} << 40) + 8);
    const Status s = run(device, prepared, elsewhere);
    EXPECT_NE(std::string(s.message()).find("prepared for a multiple of 16 bytes"), std::string::npos)
        << s.message();
  }
}

TEST(PreparedGemm, PlansAgainForOtherAlignments) {
  CountingDevice device;
  const PreparedGemm prepared = prepared_on(device, problem(1024, 1024, 1024));
  const int encoded = device.maps;
  for (const std::uintptr_t at : {std::uintptr_t{7} << 40, (std::uintptr_t{8} << 40) + 16,
                                  std::uintptr_t{9} << 40, (std::uintptr_t{9} << 40) + 48}) {
    ASSERT_TRUE(run(device, prepared, {address(at)}));
    EXPECT_EQ(device.first_map, at);
  }
  EXPECT_GT(device.maps, encoded);
  EXPECT_EQ(device.launches, 4);
}

TEST(PreparedGemm, EncodesTheMapsOfNewPointersAlone) {
  CountingDevice device;
  device.replaces = false;
  const Gemm p = problem(1024, 1024, 1024);
  const PreparedGemm prepared = prepared_on(device, p);
  const int encoded = device.maps;
  EXPECT_GE(encoded, 3);
  ASSERT_TRUE(run(device, prepared));
  EXPECT_EQ(device.maps, encoded) << "the pointers of prepare()";
  const GemmPointers elsewhere{address(std::uintptr_t{7} << 40)};
  ASSERT_TRUE(run(device, prepared, elsewhere));
  const int of_a = device.maps - encoded;
  EXPECT_GE(of_a, 1);
  EXPECT_LT(of_a, encoded) << "B and C are where they were";
  EXPECT_EQ(device.first_map, std::uint64_t{7} << 40);
  ASSERT_TRUE(run(device, prepared, elsewhere));
  EXPECT_EQ(device.maps, encoded + of_a) << "the same pointers again";
  ASSERT_TRUE(run(device, prepared));
  EXPECT_EQ(device.first_map, std::uint64_t{1} << 40) << "those of prepare() again";
  EXPECT_EQ(device.described, 1) << "of prepare()";
}

TEST(PreparedGemm, TakesItsPointersLater) {
  CountingDevice device;
  Gemm p = problem(512, 512, 512);
  p.a.data = p.b.data = nullptr;
  p.c.data = nullptr;
  const PreparedGemm prepared = prepared_on(device, p);
  const Status missing = run(device, prepared);
  EXPECT_EQ(missing.code(), StatusCode::invalid_argument);
  EXPECT_NE(std::string(missing.message()).find("null"), std::string::npos) << missing.message();
  EXPECT_EQ(device.launches, 0);
  GemmPointers x;
  x.a = address(1U << 20), x.b = address(2U << 20), x.c = address(4U << 20);
  const Status s = run(device, prepared, x);
  EXPECT_TRUE(s) << s.message();
  EXPECT_EQ(device.launches, 1);
}

TEST(PreparedGemm, IsOfOneDeviceUntilItIsReset) {
  CountingDevice device;
  const PreparedGemm prepared = prepared_on(device, problem(512, 512, 512));
  device.identity = {0, 4};
  Status s = run(device, prepared);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_STREQ(s.message(),
               "the product was prepared for CUDA device 1 but the current device is 0: prepare it there");
  device.identity = {1, 6};
  s = run(device, prepared);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_NE(std::string(s.message()).find("was reset"), std::string::npos) << s.message();
  EXPECT_EQ(device.launches, 0);
}

TEST(PreparedGemm, RefusesPointersThatDoNotFit) {
  CountingDevice device;
  const PreparedGemm prepared = prepared_on(device, problem(512, 512, 512));
  GemmPointers x;
  x.b = address((std::uintptr_t{5} << 40) + 8);
  Status s = run(device, prepared, x);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_STREQ(s.message(), "B is 0x50000000008 but the product was prepared for a multiple of 16 bytes");
  x = {};
  x.bias = address(4096);
  s = run(device, prepared, x);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_NE(std::string(s.message()).find("was null when the product was prepared"), std::string::npos)
      << s.message();
  x = {};
  x.c = address((std::uintptr_t{1} << 40) + 1024);  // within A
  s = run(device, prepared, x);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument) << "overlaps A";
  EXPECT_EQ(run(device, PreparedGemm()).code(), StatusCode::invalid_argument);
  EXPECT_EQ(device.launches, 0);
}

TEST(PreparedGemm, DMayComeApartFromCOnlyIfItWas) {
  CountingDevice device;
  Gemm p = problem(512, 512, 512);
  p.beta = 1.0;
  p.d = p.c;
  GemmPointers x;
  x.d = address(std::uintptr_t{6} << 40);
  Status s = run(device, prepared_on(device, p), x);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_STREQ(
      s.message(),
      "C is 0x30000000000 and D is 0x60000000000 but the product was prepared for D in the place of C: "
      "prepare it with C and D apart");
  EXPECT_EQ(device.launches, 0);
  p.c.data = p.d.data = nullptr;  // may come apart
  x.c = address(std::uintptr_t{3} << 40);
  s = run(device, prepared_on(device, p), x);
  EXPECT_TRUE(s) << s.message();
  x.c = x.d;
  s = run(device, prepared_on(device, p), x);
  EXPECT_TRUE(s) << s.message();
  p.d.type = Type::f16;
  const PreparedGemm of_two_types = prepared_on(device, p);
  s = run(device, of_two_types, x);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument) << "in place with another type";
  x.c = address(std::uintptr_t{3} << 40);
  s = run(device, of_two_types, x);
  EXPECT_TRUE(s) << s.message();
}

TEST(PreparedGemm, UnalignedOperandsMayBeReplacedByUnalignedOnes) {
  CountingDevice device;
  Gemm p = problem(515, 517, 519);
  p.a.data = address((std::uintptr_t{1} << 40) + 2);
  const PreparedGemm prepared = prepared_on(device, p);
  GemmPointers x;
  x.a = address((std::uintptr_t{9} << 40) + 6);
  EXPECT_TRUE(run(device, prepared, x));
  x.a = address((std::uintptr_t{9} << 40) + 1);
  EXPECT_EQ(run(device, prepared, x).code(), StatusCode::invalid_argument);
}

TEST(PreparedGemm, IsWhatItWasWhereItCannotBePrepared) {
  CountingDevice device;
  PreparedGemm prepared = prepared_on(device, problem(512, 512, 512));
  const std::string before = prepared.kernel_name();
  Gemm wrong = problem(512, 512, 512);
  wrong.a.ld = 100;
  const Status s = PreparedGemmAccess::prepare(device, wrong, &prepared);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_NE(std::string(s.message()).find("lda is 100"), std::string::npos) << s.message();
  EXPECT_EQ(prepared.kernel_name(), before);
  EXPECT_EQ(PreparedGemm().kernel_name(), nullptr);
}

TEST(PreparedGemm, ALoadThatIsRefusedMakesItTakeTheNextKernel) {
  CountingDevice device;
  const Gemm p = problem(1024, 1024, 1024);
  const std::string best = kernel_name(device, p);
  device.refusals = 1;
  const PreparedGemm prepared = prepared_on(device, p);
  ASSERT_EQ(device.loaded.size(), 1U);
  EXPECT_NE(device.loaded[0], best);
  ASSERT_TRUE(run(device, prepared));
  EXPECT_EQ(device.what, device.loaded[0]);
}

TEST(PreparedGemm, WithoutProductItScalesOrDoesNothing) {
  CountingDevice device;
  Gemm p = problem(64, 64, 0);
  p.beta = 0.5;
  const PreparedGemm scaling = prepared_on(device, p);
  EXPECT_EQ(scaling.kernel_name(), nullptr);
  EXPECT_TRUE(run(device, scaling));
  EXPECT_EQ(device.launches, 1);
  p.m = 0;
  EXPECT_TRUE(run(device, prepared_on(device, p)));
  EXPECT_EQ(device.launches, 1);
}

TEST(PreparedGemm, RunsWithItsCopiesAndParts) {
  for (const bool parts : {false, true}) {
    CountingDevice device;
    Gemm p = parts ? problem(640, 640, 640) : problem(511, 509, 507, Type::e4m3);
    if (parts) {
      p.a.type = p.b.type = Type::f32;
      p.precision = Precision::bf16x6;
    }
    p.workspace_bytes = workspace_size(device, p);
    ASSERT_NE(p.workspace_bytes, 0U);
    const PreparedGemm prepared = prepared_on(device, p);  // its workspace comes with the run
    GemmPointers x;
    EXPECT_EQ(run(device, prepared, x).code(), StatusCode::invalid_argument);
    x.workspace = address(std::uintptr_t{4} << 40);
    const Status s = run(device, prepared, x);
    EXPECT_TRUE(s) << s.message();
    EXPECT_EQ(device.launches, static_cast<int>(device.loaded.size()));
    EXPECT_GE(device.launches, 2);
  }
}

TEST(PreparedGemm, ThreadsRunItAtTheSameTime) {
  CountingDevice device;
  Gemm p = problem(256, 256, 256);
  p.kernel = "wgmma_f16_f32_tn_64x64x64_s12";  // its first argument is the map of A
  const PreparedGemm prepared = prepared_on(device, p);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (std::uintptr_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      // Its map must be that of its own A, whatever the others run with.
      class Mine final : public LoadingLauncher {
       public:
        Mine(CountingDevice& shared, std::uintptr_t a, std::atomic<int>& wrong)
            : shared_(shared), a_(a), wrong_(wrong) {}
        Status describe(DeviceDescription* d) noexcept override { return shared_.describe(d); }
        Status make_tensor_map(const MatrixInMemory& m, int r, int c, TensorMap* map) noexcept override {
          return shared_.make_tensor_map(m, r, c, map);
        }
        Status launch(const Launch& launch) noexcept override { return shared_.launch(launch); }
        Status identify(DeviceIdentity* of) noexcept override { return shared_.identify(of); }
        Status load(const Launch& launch) noexcept override { return shared_.load(launch); }
        Status replace_address(const void* data, TensorMap* map) noexcept override {
          return shared_.replace_address(data, map);
        }
        Status launch_loaded(const Launch& launch) noexcept override {
          if (*static_cast<const std::uint64_t*>(launch.arguments.data(0)) != a_) ++wrong_;
          return {};
        }

       private:
        CountingDevice& shared_;
        std::uintptr_t a_;
        std::atomic<int>& wrong_;
      };
      GemmPointers x;
      x.a = address((8 + i) << 40);
      Mine mine(device, (8 + i) << 40, failures);
      for (int round = 0; round < 2000; ++round)
        if (!PreparedGemmAccess::run(mine, prepared, x)) ++failures;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace tenon
