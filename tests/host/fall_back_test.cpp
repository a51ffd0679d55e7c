// What gemm() launches if the device refuses the chosen kernel. The launcher here launches nothing;
// gemm_device_test.cu has the same on a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "host/gemm_on.hpp"
#include "host/plan.hpp"
#include "host/precision.hpp"
#include "host/refusing_launcher.hpp"

namespace tenon {
namespace {

using test::h200;
using test::problem;
using test::refusing;
using test::RefusingLauncher;

constexpr int all = std::numeric_limits<int>::max();
const char* const copies = "the copy of operands into the workspace";
const char* const transposing = "a transposing copy";

// The kernels that the library may choose for a problem with aligned operands, best first.
std::vector<std::string> in_order(const Gemm& p) {
  std::vector<const Kernel*> accepting;
  for (const Kernel& kernel : kernels())
    if (is_offered(kernel, p) && !kernel.unaligned && accepts(kernel, p, h200)) accepting.push_back(&kernel);
  const auto yields = [&](const Kernel* kernel) { return yields_to_wgmma(*kernel, p); };
  std::stable_sort(accepting.begin(), accepting.end(), [&](const Kernel* x, const Kernel* y) {
    if (yields(x) != yields(y)) return yields(y);
    return estimated_cost(*x, p, h200) < estimated_cost(*y, p, h200);
  });
  std::vector<std::string> names;
  for (const Kernel* kernel : accepting) names.push_back(kernel->name);
  return names;
}

TEST(FallBack, TheNextBestKernelIsLaunchedOnce) {
  const Gemm p = problem(1024, 1024, 1024);
  const std::vector<std::string> order = in_order(p);
  ASSERT_GT(order.size(), 4U);
  for (const int count : {0, 1, 3}) {
    RefusingLauncher launcher;
    launcher.answer = refusing(count);
    const Status s = gemm(launcher, p);
    EXPECT_TRUE(s) << s.message();
    EXPECT_EQ(launcher.refused, std::vector<std::string>(order.begin(), order.begin() + count));
    EXPECT_EQ(launcher.launched, std::vector<std::string>{order[static_cast<std::size_t>(count)]});
  }
}

TEST(FallBack, WithoutTensorMapsAKernelThatNeedsNoneRuns) {
  RefusingLauncher launcher;
  launcher.encodes_tensor_maps = false;
  const Status s = gemm(launcher, problem(1024, 1024, 1024));
  EXPECT_TRUE(s) << s.message();
  ASSERT_EQ(launcher.launched.size(), 1U);
  const Kernel* ran = find_kernel(launcher.launched[0]);
  ASSERT_NE(ran, nullptr);
  EXPECT_EQ(ran->copy, Copy::cp_async) << ran->name;
  EXPECT_TRUE(launcher.refused.empty());
}

TEST(FallBack, ANamedKernelHasNoSubstitute) {
  Gemm p = problem(1024, 1024, 1024);
  const std::string named = in_order(p)[2];
  p.kernel = named.c_str();
  RefusingLauncher launcher;
  launcher.answer = refusing(1);
  const Status s = gemm(launcher, p);
  EXPECT_EQ(s.code(), StatusCode::device_unsupported);
  EXPECT_EQ(s.message(), named + " is refused");
  EXPECT_EQ(launcher.refused, std::vector<std::string>{named});
  EXPECT_TRUE(launcher.launched.empty());
}

TEST(FallBack, ErrorsOfTheStreamAreReturnedAtOnce) {
  const Gemm p = problem(1024, 1024, 1024);
  RefusingLauncher launcher;
  launcher.answer = refusing(1, StatusCode::cuda_error);
  const Status s = gemm(launcher, p);
  EXPECT_EQ(s.code(), StatusCode::cuda_error);
  EXPECT_EQ(launcher.refused.size(), 1U);
  EXPECT_TRUE(launcher.launched.empty());
}

TEST(FallBack, IfEveryKernelIsRefusedTheFirstSentenceIsReturned) {
  // Each kernel is tried once: in f16 down to the `any` kernels, in fp8 down to the last of mma.sync.
  for (const Gemm& p : {problem(1024, 1024, 1024), problem(1024, 1024, 1024, Type::e4m3)}) {
    const std::vector<std::string> order = in_order(p);
    RefusingLauncher launcher;
    launcher.answer = refusing(all);
    const Status s = gemm(launcher, p);
    EXPECT_EQ(s.code(), StatusCode::device_unsupported);
    EXPECT_EQ(s.message(), order[0] + " is refused");
    EXPECT_EQ(launcher.refused, order);
    EXPECT_TRUE(launcher.launched.empty());
  }
}

// Both operands begin unaligned, and k is so short that kernels that keep one of them are not among the best
// ones. So all refused kernels read the same copies.
TEST(FallBack, OperandsAreCopiedOnceWhateverRuns) {
  Gemm p = problem(1025, 1023, 509);
  p.a.data = p.b.data = static_cast<const std::uint16_t*>(p.a.data) + 1;
  p.workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40);
  p.workspace_bytes = planned_workspace(kernels(), p, h200);
  ASSERT_GT(p.workspace_bytes, 0U);
  RefusingLauncher launcher;
  launcher.answer = refusing(3);
  EXPECT_TRUE(gemm(launcher, p));
  EXPECT_EQ(launcher.refused.size(), 3U);
  ASSERT_EQ(launcher.launched.size(), 2U);
  EXPECT_EQ(launcher.launched[0], copies);
  EXPECT_NE(find_kernel(launcher.launched[1]), nullptr);
}

// The launches for a problem after a number of refusals. Copies come before the first kernel that reads them,
// and again before a kernel that reads other copies.
std::vector<std::string> launches_after(const Gemm& p, int refusals, int* times_copied) {
  std::vector<std::string> launches;
  RefusedKernels refused;
  Plan there;
  for (;; --refusals) {
    Plan plan;
    EXPECT_TRUE(make_plan(kernels(), p, h200, &plan, refused));
    const auto is_there = [&] {
      return plan.pad_a == there.pad_a && plan.pad_b == there.pad_b && plan.a_order == there.a_order &&
             plan.b_order == there.b_order;
    };
    if ((plan.pad_a || plan.pad_b) && !is_there()) {
      const bool transposes_a = plan.a_order != p.a.order, transposes_b = plan.b_order != p.b.order;
      if (plan.pad_a && transposes_a) launches.emplace_back(transposing);
      if (plan.pad_b && transposes_b) launches.emplace_back(transposing);
      if ((plan.pad_a && !transposes_a) || (plan.pad_b && !transposes_b)) launches.emplace_back(copies);
      there = plan;
      ++*times_copied;
    }
    if (refusals == 0) {
      launches.push_back(plan.kernel->name);
      if (plan.swaps_ab) launches.emplace_back(transposing);
      return launches;
    }
    refused.push_back(plan.kernel);
  }
}

// The kernels read copies of different operands, and in the last problem copies of A in both orders.
TEST(FallBack, AKernelThatReadsOtherCopiesGetsThem) {
  for (const auto& [m, n, k] :
       {std::array<std::int64_t, 3>{100, 1001, 301}, {9, 4095, 4095}, {9, 12289, 1023}}) {
    Gemm p = problem(m, n, k);
    p.c.type = Type::f16;
    p.workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40);
    p.workspace_bytes = std::size_t{1} << 30;
    int most_copied = 0;
    for (int refusals = 0; refusals < 480; refusals += refusals < 24 ? 1 : 12) {
      RefusingLauncher launcher;
      launcher.answer = refusing(refusals);
      const Status s = gemm(launcher, p);
      if (!s && refusals >= 24) break;  // every kernel has been refused
      EXPECT_TRUE(s) << s.message();
      int times_copied = 0;
      EXPECT_EQ(launcher.launched, launches_after(p, refusals, &times_copied)) << refusals << " refusals";
      most_copied = std::max(most_copied, times_copied);
    }
    EXPECT_GE(most_copied, 3) << "the copies must change, and change back, or this test shows nothing";
  }
}

TEST(FallBack, WithoutItsCopiesNoProductIsLaunched) {
  Gemm p = problem(1025, 1023, 1021);
  p.workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40);
  p.workspace_bytes = planned_workspace(kernels(), p, h200);
  RefusingLauncher launcher;
  launcher.answer = [](const Launch& launch) {
    return std::string(launch.what) == copies ? Status(StatusCode::cuda_error, "no copy") : Status();
  };
  EXPECT_STREQ(gemm(launcher, p).message(), "no copy");
  EXPECT_TRUE(launcher.launched.empty());
}

// A product of f32 operands that takes two launches of kernels: the leading parts with promoted accumulators,
// then all others.
Gemm product_of_two(Precision precision) {
  Gemm p = problem(4096, 4096, 4096);
  p.a.type = p.b.type = p.c.type = Type::f32;
  p.precision = precision;
  p.workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40);
  p.workspace_bytes = std::size_t{1} << 30;
  return p;
}
std::vector<const Kernel*> kernels_of(const std::vector<std::string>& launches) {
  std::vector<const Kernel*> found;
  for (const std::string& what : launches)
    if (const Kernel* kernel = find_kernel(what)) found.push_back(kernel);
  return found;
}

TEST(FallBack, ASecondProductIsNotLeftOut) {
  for (const Precision precision : {Precision::bf16x6, Precision::tf32x3}) {
    SCOPED_TRACE(name(precision));
    const Gemm p = product_of_two(precision);
    RefusingLauncher willing;
    ASSERT_TRUE(gemm(willing, p));
    const std::vector<const Kernel*> usual = kernels_of(willing.launched);
    ASSERT_EQ(usual.size(), 2U);
    ASSERT_TRUE(usual[0]->promotes);
    ASSERT_FALSE(usual[1]->promotes);

    // The device refuses all kernels that do not promote, after the first product has been launched.
    RefusingLauncher launcher;
    launcher.answer = [](const Launch& launch) {
      const Kernel* kernel = find_kernel(launch.what);
      return kernel == nullptr || kernel->promotes ? Status()
                                                   : Status(StatusCode::device_unsupported, "refused");
    };
    const Status s = gemm(launcher, p);
    EXPECT_TRUE(s) << s.message();
    const std::vector<const Kernel*> ran = kernels_of(launcher.launched);
    ASSERT_EQ(ran.size(), 2U);
    EXPECT_EQ(ran[0], usual[0]);
    EXPECT_TRUE(ran[1]->promotes);
    EXPECT_EQ(kernels_of(launcher.refused)[0], usual[1]);
  }
}

TEST(FallBack, BothProductsArePlannedBeforeTheFirstLaunch) {
  const Gemm p = product_of_two(Precision::bf16x6);
  const std::int64_t others = product_of_parts(p).k - p.k;
  const auto refuse_others = [&](StatusCode code) {
    return [=](const MatrixInMemory& matrix) {
      return matrix.columns == others ? Status(code, "no map of the other parts") : Status();
    };
  };
  RefusingLauncher broken;
  broken.answer_to_map = refuse_others(StatusCode::cuda_error);
  EXPECT_STREQ(gemm(broken, p).message(), "no map of the other parts");
  EXPECT_TRUE(broken.launched.empty());

  RefusingLauncher without;  // there are kernels that need no maps
  without.answer_to_map = refuse_others(StatusCode::device_unsupported);
  const Status s = gemm(without, p);
  EXPECT_TRUE(s) << s.message();
  const std::vector<const Kernel*> ran = kernels_of(without.launched);
  ASSERT_EQ(ran.size(), 2U);
  EXPECT_TRUE(ran[0]->promotes);
  EXPECT_EQ(ran[1]->copy, Copy::cp_async) << ran[1]->name;
}

}  // namespace
}  // namespace tenon
