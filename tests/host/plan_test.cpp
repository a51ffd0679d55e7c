// When operands are copied into the workspace, and what is said when the workspace is too small.
#include "host/plan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "host/kernel_list.hpp"

namespace tenon {
namespace {

using test::a100;
using test::h200;
using test::kernel_list;
using test::problem;

void* const workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40);

TEST(Plan, AlignedProblemsNeedNoWorkspace) {
  EXPECT_EQ(planned_workspace(kernel_list(), problem(4096, 4096, 4096), h200), 0U);
  Plan plan;
  ASSERT_TRUE(make_plan(kernel_list(), problem(4096, 4096, 4096), h200, &plan));
  EXPECT_EQ(plan.kernel->name, "tma_256x128");
  EXPECT_FALSE(plan.pad_a || plan.pad_b);
}

TEST(Plan, LargeUnalignedProblemsArePadded) {
  Gemm p = problem(4095, 4095, 4095);
  const std::size_t bytes = planned_workspace(kernel_list(), p, h200);
  EXPECT_EQ(bytes, 2U * 4095 * 4096 * 2);
  p.workspace = workspace;
  p.workspace_bytes = bytes;
  Plan plan;
  ASSERT_TRUE(make_plan(kernel_list(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "tma_256x128");
  EXPECT_TRUE(plan.pad_a && plan.pad_b);
  const Gemm run = planned_problem(p, plan);
  EXPECT_EQ(run.a.data, workspace);
  EXPECT_EQ(run.b.data, static_cast<char*>(workspace) + bytes / 2);
  EXPECT_EQ(run.a.ld, 4096);
  EXPECT_EQ(run.b.ld, 4096);
  EXPECT_EQ(run.c.data, p.c.data);
}

TEST(Plan, OnlyTheUnalignedOperandIsPadded) {
  Gemm p = problem(4096, 4096, 4096);
  p.b.data = static_cast<const char*>(p.b.data) + 2;
  EXPECT_EQ(planned_workspace(kernel_list(), p, h200), 4096U * 4096 * 2);
  p.workspace = workspace;
  p.workspace_bytes = 4096 * 4096 * 2;
  Plan plan;
  ASSERT_TRUE(make_plan(kernel_list(), p, h200, &plan));
  EXPECT_FALSE(plan.pad_a);
  EXPECT_TRUE(plan.pad_b);
  EXPECT_EQ(planned_problem(p, plan).b.data, workspace);
  EXPECT_EQ(planned_problem(p, plan).a.data, p.a.data);
}

TEST(Plan, WithoutEnoughWorkspaceTheProblemStillRuns) {
  Gemm p = problem(4095, 4095, 4095);
  Plan plan;
  ASSERT_TRUE(make_plan(kernel_list(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "any_128x128");
  p.workspace = workspace;
  p.workspace_bytes = planned_workspace(kernel_list(), p, h200) - 1;
  ASSERT_TRUE(make_plan(kernel_list(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "any_128x128");
  EXPECT_FALSE(plan.pad_a || plan.pad_b);
}

TEST(Plan, SmallProblemsAreNotPadded) {
  EXPECT_EQ(planned_workspace(kernel_list(), problem(63, 65, 64), h200), 0U);
  EXPECT_EQ(planned_workspace(kernel_list(), problem(4095, 4095, 63), h200), 0U);
  EXPECT_GT(planned_workspace(kernel_list(), problem(65, 65, 65), h200), 0U);
  EXPECT_GT(planned_workspace(kernel_list(), problem(1, 4095, 4095), h200), 0U);
}

TEST(Plan, ANamedKernelRunsOrSaysWhyNot) {
  Gemm p = problem(64, 64, 64);
  p.kernel = "module_256x128";
  p.c.type = Type::f16;
  Plan plan;
  ASSERT_TRUE(make_plan(kernel_list(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "module_256x128");

  p.kernel = "tma_256x128";
  Status s = make_plan(kernel_list(), p, a100, &plan);
  EXPECT_EQ(s.code(), StatusCode::device_unsupported);
  EXPECT_STREQ(s.message(), "kernel tma_256x128 needs sm_90 exactly but the device is sm_80");

  p.kernel = "nobody";
  s = make_plan(kernel_list(), p, a100, &plan);
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_STREQ(s.message(), "no kernel has the name 'nobody': `tenon list` prints the names that exist");
}

TEST(Plan, ANamedKernelAsksForTheWorkspaceItNeeds) {
  Gemm p = problem(63, 65, 61);  // too small to be padded for speed
  p.kernel = "async_64x64";
  const std::size_t bytes = planned_workspace(kernel_list(), p, a100);
  EXPECT_EQ(bytes, 8192U + 8448U);  // 63 and 65 rows of 64 elements, each rounded up to 256 bytes
  Plan plan;
  const Status s = make_plan(kernel_list(), p, a100, &plan);
  EXPECT_EQ(s.code(), StatusCode::workspace_too_small);
  EXPECT_STREQ(s.message(),
               "workspace_bytes is 0 but async_64x64 needs >= 16640 here to copy operands into aligned rows");
  p.workspace = workspace;
  p.workspace_bytes = bytes;
  ASSERT_TRUE(make_plan(kernel_list(), p, a100, &plan));
  EXPECT_EQ(plan.kernel->name, "async_64x64");
  EXPECT_TRUE(plan.pad_a && plan.pad_b);
}

// The plan with the workspace that planned_workspace() asks for.
Plan planned(Gemm* p, std::size_t wanted_bytes) {
  const std::size_t bytes = planned_workspace(kernel_list(), *p, h200);
  EXPECT_EQ(bytes, wanted_bytes);
  p->workspace = bytes != 0 ? workspace : nullptr;
  p->workspace_bytes = bytes;
  Plan plan;
  const Status s = make_plan(kernel_list(), *p, h200, &plan);
  EXPECT_TRUE(s) << s.message();
  return plan;
}

TEST(Plan, OtherTypesRunAsTheyLieWhereKIsContiguous) {
  for (const Type type : {Type::tf32, Type::e4m3, Type::s8}) {
    Gemm p = problem(96, 80, 64, type);
    const Plan plan = planned(&p, 0);
    EXPECT_EQ(plan.kernel->name, name(type));
    EXPECT_FALSE(plan.pad_a || plan.pad_b);
  }
}

// Whatever its size: no kernel takes them as they lie.
TEST(Plan, OtherTypesAreTransposedWhereKIsNotContiguous) {
  Gemm p = problem(100, 33, 70, Type::e4m3);
  p.a = {p.a.data, 112, column_major, Type::e4m3};
  p.b = {p.b.data, 48, row_major, Type::e4m3};
  // 100 rows and 33 columns of 70 elements, 80 apart.
  Plan plan = planned(&p, 8192 + 2816);
  EXPECT_TRUE(plan.pad_a && plan.pad_b);
  EXPECT_EQ(plan.b_offset, 8192U);
  Gemm run = planned_problem(p, plan);
  EXPECT_EQ(run.a.data, workspace);
  EXPECT_EQ(run.a.order, row_major);
  EXPECT_EQ(run.a.ld, 80);
  EXPECT_EQ(run.b.data, static_cast<char*>(workspace) + 8192);
  EXPECT_EQ(run.b.order, column_major);
  EXPECT_EQ(run.b.ld, 80);

  p = problem(100, 33, 70, Type::tf32);
  p.a.ld = 72;  // as it should be
  p.b = {p.b.data, 36, row_major, Type::tf32};
  plan = planned(&p, 9728);  // 33 columns of 72 floats, rounded up to 256 bytes
  EXPECT_TRUE(!plan.pad_a && plan.pad_b);
  run = planned_problem(p, plan);
  EXPECT_EQ(run.a.data, p.a.data);
  EXPECT_EQ(run.b.order, column_major);
  EXPECT_EQ(run.b.ld, 72);
}

TEST(Plan, OtherTypesArePaddedToWhole16Bytes) {
  Gemm p = problem(4, 4, 17, Type::s8);  // far too small to be padded for speed
  Plan plan = planned(&p, 2U * 256);
  EXPECT_TRUE(plan.pad_a && plan.pad_b);
  EXPECT_EQ(planned_problem(p, plan).a.ld, 32);
  EXPECT_EQ(planned_problem(p, plan).a.order, row_major);

  p = problem(4, 4, 18, Type::tf32);
  plan = planned(&p, 2U * 512);
  EXPECT_EQ(planned_problem(p, plan).b.ld, 20);

  p = problem(4, 4, 16, Type::s8);
  p.b.data = static_cast<const char*>(p.b.data) + 1;
  plan = planned(&p, 256);
  EXPECT_TRUE(!plan.pad_a && plan.pad_b);
  EXPECT_EQ(planned_problem(p, plan).b.ld, 16);
}

TEST(Plan, OtherTypesSayThatTheyNeedTheWorkspace) {
  Gemm p = problem(64, 64, 64, Type::e4m3);
  p.b.order = row_major;
  Plan plan;
  const Status s = make_plan(kernel_list(), p, h200, &plan);
  EXPECT_EQ(s.code(), StatusCode::workspace_too_small);
  EXPECT_STREQ(s.message(),
               "workspace_bytes is 0 but e4m3 needs >= 4096 here to copy operands into aligned rows");
}

TEST(Plan, PairsAndPromotedSumsHaveKernelsOfTheirOwn) {
  Gemm p = problem(64, 64, 64, Type::e4m3);
  p.promote = true;
  EXPECT_EQ(planned(&p, 0).kernel->name, "e4m3_promoted");
  p.promote = false;
  p.b.type = Type::e5m2;
  EXPECT_EQ(planned(&p, 0).kernel->name, "e4m3_e5m2");
  p.kernel = "e4m3_promoted";
  Plan plan;
  EXPECT_STREQ(make_plan(kernel_list(), p, h200, &plan).message(),
               "kernel e4m3_promoted multiplies e4m3 by e4m3 but A is e4m3 and B is e5m2");
  p.b.type = Type::e4m3;
  EXPECT_STREQ(make_plan(kernel_list(), p, h200, &plan).message(),
               "kernel e4m3_promoted promotes its sums but the problem asks for sums that are not promoted");
  EXPECT_EQ(make_plan(kernel_list(), problem(64, 64, 64, Type::s8), a100, &plan).code(),
            StatusCode::device_unsupported);
}

TEST(Plan, SaysWhatIsMissing) {
  Gemm p = problem(64, 64, 64);
  p.a.order = column_major;
  Plan plan;
  Status s = make_plan(kernel_list(), p, a100, &plan);
  EXPECT_EQ(s.code(), StatusCode::unsupported);
  EXPECT_STREQ(s.message(),
               "this build has no kernel for f16 inputs accumulated in f32, A column-major, B column-major");
  DeviceDescription turing = a100;
  turing.sm = 75;
  s = make_plan(kernel_list(), problem(64, 64, 64), turing, &plan);
  EXPECT_EQ(s.code(), StatusCode::device_unsupported);
}

}  // namespace
}  // namespace tenon
