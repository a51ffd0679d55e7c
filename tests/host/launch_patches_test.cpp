// A launch whose addresses were replaced is the launch that would be planned for the new addresses: for every
// kernel of the library.
#include "host/launch_patches.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "gemm/select.hpp"
#include "host/kernel_list.hpp"

namespace tenon {
namespace {

using test::h200;
using test::problem;

void* address(std::uintptr_t at) {
  return reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr): never read through
}

// Its tensor maps say what they are of.
class Device final : public LoadingLauncher {
 public:
  Status describe(DeviceDescription* device) noexcept override {
    *device = h200;
    return {};
  }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    *map = {};
    map->opaque[0] = reinterpret_cast<std::uintptr_t>(matrix.data);
    map->opaque[1] = static_cast<std::uint64_t>(matrix.rows) << 32U | static_cast<unsigned>(matrix.columns);
    map->opaque[2] = static_cast<std::uint64_t>(box_rows) << 32U | static_cast<unsigned>(box_columns);
    map->opaque[3] = static_cast<std::uint64_t>(matrix.ld);
    return {};
  }
  Status launch(const Launch&) noexcept override { return {}; }
  Status identify(DeviceIdentity*) noexcept override { return {}; }
  Status load(const Launch&) noexcept override { return {}; }
  Status launch_loaded(const Launch&) noexcept override { return {}; }
  Status replace_address(const void* data, TensorMap* map) noexcept override {
    map->opaque[0] = reinterpret_cast<std::uintptr_t>(data);
    return {};
  }
};

// The bytes of a launch, and where they are random: between the members of an argument.
std::vector<std::uint64_t> words_of(const Launch& launch) {
  std::vector<std::uint64_t> words;
  for (int i = 0; i < launch.arguments.count(); ++i) {
    for (std::size_t at = 0; at + 8 <= launch.arguments.size(i); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, static_cast<const char*>(launch.arguments.data(i)) + at, 8);
      words.push_back(word);
    }
  }
  return words;
}
Launch configured(const Kernel& kernel, const Gemm& p) {
  Device device;
  Launch launch;
  EXPECT_TRUE(kernel.configure(p, h200, device, &launch));
  return launch;
}

// The problem elsewhere: each matrix by another number of multiples of 128 bytes.
Gemm moved(Gemm p, std::uintptr_t by) {
  const auto move = [&](auto& pointer) {
    by += 128 * 1237;
    if (pointer == nullptr) return;
    pointer = static_cast<std::remove_reference_t<decltype(pointer)>>(
        address(reinterpret_cast<std::uintptr_t>(pointer) + by));
  };
  move(p.a.data), move(p.b.data), move(p.c.data), move(p.d.data);
  EpilogueOptions& e = p.epilogue;
  move(e.bias.data), move(e.aux.data);
  move(p.scale_a), move(p.scale_b), move(e.row_scale), move(e.column_scale);
  return p;
}

void expect_patched(const Kernel& kernel, const Gemm& p) {
  SCOPED_TRACE(kernel.name);
  Plan plan;
  plan.kernel = &kernel;
  LaunchPatches patches;
  patches.find(p, plan, h200);
  ASSERT_TRUE(patches.are_found());
  Device device;
  Launch launch = configured(kernel, p);
  Gemm here = p;
  for (const std::uintptr_t by : {std::uintptr_t{1} << 30, std::uintptr_t{0}, std::uintptr_t{1} << 45}) {
    const Gemm there = moved(p, by);
    ASSERT_TRUE(patches.fit(addresses_of(there)));
    ASSERT_TRUE(patches.place(device, addresses_of(here), addresses_of(there), &launch));
    here = there;
    const std::vector<std::uint64_t> got = words_of(launch), expected = words_of(configured(kernel, there)),
                                     again = words_of(configured(kernel, there)),
                                     before = words_of(configured(kernel, p)),
                                     before_again = words_of(configured(kernel, p));
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool is_random = expected[i] != again[i] || before[i] != before_again[i];
      ASSERT_TRUE(is_random || got[i] == expected[i]) << "word " << i;
    }
  }
}

TEST(LaunchPatches, AreThoseOfEveryKernel) {
  int patched = 0;
  for (const Kernel& kernel : kernels()) {
    for (const std::int64_t size : {std::int64_t{512}, std::int64_t{515}}) {
      Gemm p = problem(size, size, size);
      p.a = {p.a.data, size, kernel.a_order, kernel.rounds_f32 ? Type::f32 : kernel.type};
      p.b = {p.b.data, size, kernel.b_order, kernel.rounds_f32 ? Type::f32 : kernel.type_b};
      p.accumulate = kernel.accumulate;
      p.promote = kernel.promotes;
      p.c.type = kernel.accumulate == Type::s32 && !kernel.fused ? Type::s32
                 : kernel.accumulate == Type::f64                ? Type::f64
                                                                 : Type::f16;
      if (kernel.rounds_f32) p.precision = kernel.type == Type::f16 ? Precision::f16 : Precision::bf16;
      if (kernel.fused) p.epilogue.bias = {address(std::uintptr_t{5} << 40), kernel.type};
      if (kernel.fused && bytes(kernel.type) == 1) p.epilogue.bias.type = Type::f16;
      if (bytes(kernel.type) == 1) p.scale_a = static_cast<const float*>(address(std::uintptr_t{6} << 40));
      if (kernel.accumulate == Type::s32 && !kernel.fused) p.scale_a = nullptr;
      if (!accepts(kernel, p, h200)) continue;
      expect_patched(kernel, p);
      ++patched;
      if (HasFatalFailure()) return;
      if (!kernel.fused) continue;
      // An aux that is written, and one that is read: 16-bit wgmma kernels have a map of it.
      for (const Activation activation : {Activation::relu, Activation::drelu}) {
        p.epilogue.activation = activation;
        p.epilogue.aux = {address(std::uintptr_t{7} << 40), size,
                          bytes(kernel.type) == 2 ? kernel.type : Type::f16};
        p.c.type = p.epilogue.aux.type;
        expect_patched(kernel, p);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(patched, static_cast<int>(kernels().size()) / 2);
}

TEST(LaunchPatches, FitAddressesAsAligned) {
  const Gemm p = problem(512, 512, 512);
  Plan plan;
  plan.kernel = select_kernel(p, h200);
  LaunchPatches patches;
  patches.find(p, plan, h200);
  ASSERT_TRUE(patches.are_found());
  Gemm other = p;
  other.a.data = address((std::uintptr_t{1} << 40) + 16);
  EXPECT_FALSE(patches.fit(addresses_of(other)));
  other.a.data = address((std::uintptr_t{1} << 40) + 128);
  EXPECT_TRUE(patches.fit(addresses_of(other)));
  other.scale_a = static_cast<const float*>(address(256));
  EXPECT_FALSE(patches.fit(addresses_of(other))) << "the launch has none";
  plan.pad_a = true;
  patches.find(p, plan, h200);
  EXPECT_FALSE(patches.are_found()) << "a copy comes first";
}

TEST(LaunchPatches, TellMatricesWithOneAddressApart) {
  Gemm p = problem(512, 512, 512);
  p.b.data = p.a.data;
  Plan plan;
  plan.kernel = select_kernel(p, h200);
  ASSERT_NE(plan.kernel, nullptr);
  expect_patched(*plan.kernel, p);
}

}  // namespace
}  // namespace tenon
