// The memory of plans: a problem gets its own plan, never that of another one.
#include "host/plan_memory.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "host/kernel_list.hpp"
#include "tenon/tuning.hpp"

namespace tenon {
namespace {

using test::h200;
using test::problem;

Plan some_plan() {
  static const Kernel kernel = test::kernel("some kernel", Copy::tma, 128, 128);
  Plan plan;
  plan.kernel = &kernel;
  plan.pad_b = true;
  plan.b_offset = 4096;
  return plan;
}

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

TEST(PlanMemory, KnowsWhatWasRemembered) {
  const Gemm p = problem(300, 200, 100);
  Plan plan;
  EXPECT_FALSE(recall_plan(p, h200, &plan));
  remember_plan(p, h200, some_plan());
  ASSERT_TRUE(recall_plan(p, h200, &plan));
  EXPECT_EQ(plan.kernel, some_plan().kernel);
  EXPECT_TRUE(plan.pad_b);
  EXPECT_EQ(plan.b_offset, 4096U);
}

TEST(PlanMemory, ComparesEveryFieldThatAPlanDependsOn) {
  Gemm p = problem(300, 200, 100);
  p.workspace = at<void>(1U << 20);
  p.workspace_bytes = 1 << 20;
  p.d = {at<void>(std::uintptr_t{5} << 40), 200, Type::f32};
  p.epilogue.bias = {at<void>(256), Type::f32};
  const std::vector<std::function<void(Gemm&)>> changes = {
      [](Gemm& x) { ++x.m; },
      [](Gemm& x) { ++x.n; },
      [](Gemm& x) { ++x.k; },
      [](Gemm& x) { ++x.a.ld; },
      [](Gemm& x) { ++x.b.ld; },
      [](Gemm& x) { ++x.c.ld; },
      [](Gemm& x) { ++x.d.ld; },
      [](Gemm& x) { x.a.order = flipped(x.a.order); },
      [](Gemm& x) { x.b.order = flipped(x.b.order); },
      [](Gemm& x) { x.a.type = Type::bf16; },
      [](Gemm& x) { x.b.type = Type::bf16; },
      [](Gemm& x) { x.c.type = Type::f16; },
      [](Gemm& x) { x.d.type = Type::f16; },
      [](Gemm& x) { x.a.data = static_cast<const char*>(x.a.data) + 2; },
      [](Gemm& x) { x.b.data = static_cast<const char*>(x.b.data) + 128; },
      [](Gemm& x) { x.c.data = static_cast<char*>(x.c.data) + 4; },
      [](Gemm& x) { x.d.data = static_cast<char*>(x.d.data) + 4; },
      [](Gemm& x) { x.d.data = nullptr; },
      [](Gemm& x) { x.alpha = 2; },
      [](Gemm& x) { x.beta = 1; },
      [](Gemm& x) { x.accumulate = Type::f16; },
      [](Gemm& x) { x.promote = true; },
      [](Gemm& x) { x.precision = Precision::bf16; },
      [](Gemm& x) { x.scale_a = at<float>(512); },
      [](Gemm& x) { x.scale_b = at<float>(512); },
      [](Gemm& x) { x.workspace = nullptr; },
      [](Gemm& x) { --x.workspace_bytes; },
      [](Gemm& x) { x.epilogue.activation = Activation::relu; },
      [](Gemm& x) { x.epilogue.bias.data = nullptr; },
      [](Gemm& x) { x.epilogue.bias.data = at<void>(260); },
      [](Gemm& x) { x.epilogue.bias.type = Type::f16; },
      [](Gemm& x) { x.epilogue.row_bias.data = at<void>(256); },
      [](Gemm& x) { x.epilogue.row_scale = at<float>(256); },
      [](Gemm& x) { x.epilogue.column_scale = at<float>(256); },
      [](Gemm& x) { x.epilogue.aux.data = at<void>(256); },
      [](Gemm& x) { x.epilogue.aux.ld = 1; },
      [](Gemm& x) { x.epilogue.aux.type = Type::bf16; },
      [](Gemm& x) { x.epilogue.lower = 1; },
      [](Gemm& x) { x.epilogue.upper = 1; },
      [](Gemm& x) { x.epilogue.gated = true; },
      [](Gemm& x) { x.epilogue.scale_d = at<float>(256); },
      [](Gemm& x) { x.epilogue.absmax = at<float>(256); },
      [](Gemm& x) { x.epilogue.bias_gradient = at<float>(256); },
      [](Gemm& x) { x.kernel = "a name"; },
      [](Gemm& x) {
        static const Tuning tuning;
        x.tuning = &tuning;
      },
  };
  remember_plan(p, h200, some_plan());
  Plan plan;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Gemm changed = p;
    changes[i](changed);
    EXPECT_FALSE(recall_plan(changed, h200, &plan)) << "change " << i;
  }
  EXPECT_FALSE(recall_plan(p, test::a100, &plan));
  DeviceDescription fewer = h200;
  fewer.multiprocessors = 66;
  EXPECT_FALSE(recall_plan(p, fewer, &plan));
  EXPECT_TRUE(recall_plan(p, h200, &plan));
}

TEST(PlanMemory, OtherAddressesOfTheSameAlignmentAreTheSame) {
  Gemm p = problem(300, 200, 100);
  remember_plan(p, h200, some_plan());
  p.a.data = static_cast<const char*>(p.a.data) + 4096;
  p.c.data = static_cast<char*>(p.c.data) + 256;
  Plan plan;
  EXPECT_TRUE(recall_plan(p, h200, &plan));
}

TEST(PlanMemory, ForgetsOldProblemsForNewOnes) {
  Plan plan;
  for (int i = 1; i <= 1000; ++i) {
    const Gemm p = problem(i, 8, 8);
    remember_plan(p, h200, some_plan());
    EXPECT_TRUE(recall_plan(p, h200, &plan)) << i;
  }
  int known = 0;
  for (int i = 1; i <= 1000; ++i) known += recall_plan(problem(i, 8, 8), h200, &plan) ? 1 : 0;
  EXPECT_GT(known, 8);
  EXPECT_LE(known, 64);
}

}  // namespace
}  // namespace tenon
