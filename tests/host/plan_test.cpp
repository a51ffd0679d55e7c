// When gemm() copies operands into the workspace, and what it says if the workspace is too small.
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

TEST(Plan, ProblemsOfShortRowsAreNotPadded) {
  EXPECT_EQ(planned_workspace(kernel_list(), problem(4095, 4095, 15), h200), 0U);
  EXPECT_GT(planned_workspace(kernel_list(), problem(3, 5, 17), h200), 0U);
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
  Gemm p = problem(63, 65, 61);
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

TEST(Plan, OtherTypesNeedNoCopyWhereKIsContiguous) {
  for (const Type type : {Type::tf32, Type::e4m3, Type::s8}) {
    Gemm p = problem(96, 80, 64, type);
    const Plan plan = planned(&p, 0);
    EXPECT_EQ(plan.kernel->name, name(type));
    EXPECT_FALSE(plan.pad_a || plan.pad_b);
  }
}

// At any size, since no kernel reads them otherwise.
TEST(Plan, OtherTypesAreTransposedWhereKIsNotContiguous) {
  Gemm p = problem(100, 33, 70, Type::e4m3);
  p.a = {p.a.data, 112, column_major, Type::e4m3};
  p.b = {p.b.data, 48, row_major, Type::e4m3};
  // 100 rows and 33 columns of 70 elements, with leading dimension 128, rounded up to 256 bytes.
  Plan plan = planned(&p, 12800 + 4352);
  EXPECT_TRUE(plan.pad_a && plan.pad_b);
  EXPECT_EQ(plan.b_offset, 12800U);
  Gemm run = planned_problem(p, plan);
  EXPECT_EQ(run.a.data, workspace);
  EXPECT_EQ(run.a.order, row_major);
  EXPECT_EQ(run.a.ld, 128);
  EXPECT_EQ(run.b.data, static_cast<char*>(workspace) + 12800);
  EXPECT_EQ(run.b.order, column_major);
  EXPECT_EQ(run.b.ld, 128);

  p = problem(100, 33, 70, Type::tf32);
  p.a.ld = 72;  // aligned
  p.b = {p.b.data, 36, row_major, Type::tf32};
  plan = planned(&p, 12800);  // 33 columns of 96 floats, rounded up to 256 bytes
  EXPECT_TRUE(!plan.pad_a && plan.pad_b);
  run = planned_problem(p, plan);
  EXPECT_EQ(run.a.data, p.a.data);
  EXPECT_EQ(run.b.order, column_major);
  EXPECT_EQ(run.b.ld, 96);
}

TEST(Plan, OtherTypesArePaddedToWhole128Bytes) {
  Gemm p = problem(4, 4, 17, Type::s8);  // far too small to be padded for speed
  Plan plan = planned(&p, 2U * 512);
  EXPECT_TRUE(plan.pad_a && plan.pad_b);
  EXPECT_EQ(planned_problem(p, plan).a.ld, 128);
  EXPECT_EQ(planned_problem(p, plan).a.order, row_major);

  p = problem(4, 4, 18, Type::tf32);
  plan = planned(&p, 2U * 512);
  EXPECT_EQ(planned_problem(p, plan).b.ld, 32);

  p = problem(4, 4, 16, Type::s8);
  p.b.data = static_cast<const char*>(p.b.data) + 1;
  plan = planned(&p, 512);
  EXPECT_TRUE(!plan.pad_a && plan.pad_b);
  EXPECT_EQ(planned_problem(p, plan).b.ld, 128);
}

TEST(Plan, OtherTypesSayThatTheyNeedTheWorkspace) {
  Gemm p = problem(64, 64, 64, Type::e4m3);
  p.b.order = row_major;
  Plan plan;
  const Status s = make_plan(kernel_list(), p, h200, &plan);
  EXPECT_EQ(s.code(), StatusCode::workspace_too_small);
  EXPECT_STREQ(s.message(),
               "workspace_bytes is 0 but e4m3 needs >= 8192 here to copy operands into aligned rows");
}

TEST(Plan, MixedTypesAndPromotionHaveKernelsOfTheirOwn) {
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
               "kernel e4m3_promoted promotes its accumulators but the problem does not ask for promotion");
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

// The list, and a kernel with row-interleaved views of A.
const std::vector<Kernel>& with_any_lda() {
  static const std::vector<Kernel> list = [] {
    std::vector<Kernel> l = kernel_list();
    Kernel k = test::kernel("interleaved", Copy::tma, 128, 256, row_major, row_major);
    k.instruction = Instruction::wgmma;
    k.row_interleaved = true;
    l.push_back(k);
    return l;
  }();
  return list;
}

// m x n x k in f16, with unaligned rows of both operands and of C.
Gemm unaligned_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  Gemm p = problem(m, n, k);
  p.c.type = Type::f16;
  p.workspace = workspace;
  p.workspace_bytes = planned_workspace(with_any_lda(), p, h200);
  return p;
}

TEST(Plan, ARowInterleavedKernelCopiesASmallBAndKeepsALargeA) {
  const Gemm p = unaligned_problem(4095, 511, 4095);
  EXPECT_EQ(p.workspace_bytes, 4095U * 512 * 2);  // k rows of B
  Plan plan;
  ASSERT_TRUE(make_plan(with_any_lda(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "interleaved");
  EXPECT_TRUE(!plan.pad_a && plan.pad_b && !plan.swaps_ab);
  const Gemm run = planned_problem(p, plan);
  EXPECT_EQ(run.a.data, p.a.data);
  EXPECT_EQ(run.a.ld, 4095);
  EXPECT_EQ(run.b.data, workspace);
  EXPECT_EQ(run.b.order, row_major);
  EXPECT_EQ(run.b.ld, 512);
  EXPECT_EQ(run.c.data, p.c.data);
}

TEST(Plan, ARowInterleavedKernelSwapsASmallAAndALargeB) {
  const Gemm p = unaligned_problem(511, 4095, 4095);
  EXPECT_EQ(p.workspace_bytes, 2 * 4095U * 512 * 2);  // k columns of A, n rows of the transpose of C
  Plan plan;
  ASSERT_TRUE(make_plan(with_any_lda(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "interleaved");
  EXPECT_TRUE(plan.pad_a && !plan.pad_b && plan.swaps_ab);
  const Gemm run = planned_problem(p, plan);
  EXPECT_EQ(run.m, 4095);
  EXPECT_EQ(run.n, 512);  // the copy of A ends with a column of zeros
  EXPECT_EQ(run.a.data, p.b.data);
  EXPECT_EQ(run.a.order, row_major);
  EXPECT_EQ(run.a.ld, 4095);
  EXPECT_EQ(run.b.data, workspace);
  EXPECT_EQ(run.b.order, row_major);
  EXPECT_EQ(run.c.data, static_cast<char*>(workspace) + p.workspace_bytes / 2);
  EXPECT_EQ(run.c.ld, 512);
}

// The swapped problem can neither read C, nor write 4-byte elements, nor begin inside 16 bytes of B.
TEST(Plan, DoesNotSwapWhereCIsReadOrF32OrBBeginsUnaligned) {
  for (int what = 0; what < 3; ++what) {
    Gemm p = unaligned_problem(511, 4095, 4095);
    if (what == 0) p.beta = 1;
    if (what == 1) p.c.type = Type::f32;
    if (what == 2) p.b.data = static_cast<const char*>(p.b.data) + 2;
    p.workspace_bytes = planned_workspace(with_any_lda(), p, h200);
    Plan plan;
    ASSERT_TRUE(make_plan(with_any_lda(), p, h200, &plan));
    EXPECT_FALSE(plan.swaps_ab) << what;
  }
}

// The transposing copy reads 8 columns of C^T at a time, which the kernel computes from 8 columns of A. Of
// 129 columns, the last 7 of a chunk are not in A.
TEST(Plan, DoesNotSwapWhereAEndsInsideEightColumns) {
  std::vector<Kernel> list = with_any_lda();
  list.push_back(test::kernel("nn", Copy::tma, 128, 128, column_major, column_major));
  for (const auto& [m, swaps] : {std::pair{136, true}, {129, false}}) {
    Gemm p = problem(m, 32001, 4095);
    p.a = {p.a.data, 136, column_major, Type::f16};
    p.c.type = Type::f16;
    p.workspace = workspace;
    p.workspace_bytes = planned_workspace(list, p, h200);
    Plan plan;
    ASSERT_TRUE(make_plan(list, p, h200, &plan));
    EXPECT_FALSE(plan.pad_a);
    EXPECT_EQ(plan.swaps_ab, swaps) << m;
  }
}

// With less workspace than the fastest way needs, the plan takes the fastest way that fits.
TEST(Plan, TakesTheWayThatFitsTheWorkspace) {
  Gemm p = unaligned_problem(4095, 4095, 4095);
  Plan plan;
  ASSERT_TRUE(make_plan(with_any_lda(), p, h200, &plan));
  const std::size_t b_alone = 4095U * 4096 * 2;
  p.workspace_bytes = b_alone;
  ASSERT_TRUE(make_plan(with_any_lda(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "interleaved");
  EXPECT_TRUE(!plan.pad_a && plan.pad_b);
  p.workspace_bytes = b_alone - 1;
  ASSERT_TRUE(make_plan(with_any_lda(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "any_128x128");
}

TEST(Plan, ARowInterleavedKernelNeedsNoWorkspaceIfBIsAligned) {
  Gemm p = problem(4095, 512, 4095);
  p.b = {p.b.data, 512, row_major, Type::f16};
  Plan plan;
  ASSERT_TRUE(make_plan(with_any_lda(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "interleaved");
  EXPECT_EQ(planned_workspace(with_any_lda(), p, h200), 0U);
  p.a.data = static_cast<const char*>(p.a.data) + 2;
  p.kernel = "interleaved";
  const Status s = make_plan(with_any_lda(), p, h200, &plan);
  EXPECT_EQ(s.code(), StatusCode::workspace_too_small);
  EXPECT_NE(std::string(s.message()).find("interleaved needs >="), std::string::npos) << s.message();
}

// The same list, and a kernel for unaligned operands.
const std::vector<Kernel>& with_unaligned() {
  static const std::vector<Kernel> list = [] {
    std::vector<Kernel> l = with_any_lda();
    l.push_back(test::unaligned_kernel("unaligned"));
    return l;
  }();
  return list;
}

TEST(Plan, UnalignedOperandsRunWithoutCopiesWhereThatCostsLess) {
  Gemm p = unaligned_problem(2047, 2047, 2047);
  EXPECT_EQ(planned_workspace(with_unaligned(), p, h200), 0U);
  for (const std::size_t workspace_bytes : {p.workspace_bytes, std::size_t{0}}) {
    p.workspace_bytes = workspace_bytes;
    Plan plan;
    ASSERT_TRUE(make_plan(with_unaligned(), p, h200, &plan));
    EXPECT_EQ(plan.kernel->name, "unaligned");
    EXPECT_FALSE(plan.pad_a || plan.pad_b || plan.swaps_ab);
  }
}

// An unaligned A, and a B that is aligned or that has few columns to copy.
TEST(Plan, CopiesFewColumnsOfBBesideAnUnalignedA) {
  std::vector<Kernel> list = with_unaligned();
  list.push_back(test::unaligned_swapab_kernel("swapab"));
  Gemm p = unaligned_problem(12289, 511, 2049);
  p.workspace_bytes = planned_workspace(list, p, h200);
  EXPECT_EQ(p.workspace_bytes, (511U * 2112 * 2 + 255) / 256 * 256);
  Plan plan;
  ASSERT_TRUE(make_plan(list, p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "swapab");
  EXPECT_TRUE(!plan.pad_a && plan.pad_b && !plan.swaps_ab);
  const Gemm run = planned_problem(p, plan);
  EXPECT_EQ(run.a.data, p.a.data);
  EXPECT_EQ(run.a.ld, 2049);
  EXPECT_EQ(run.b.data, workspace);
  EXPECT_EQ(run.b.order, column_major);
  p.b.ld = 2112;  // aligned: no copy
  EXPECT_EQ(planned_workspace(list, p, h200), 0U);
  p.workspace_bytes = 0;
  ASSERT_TRUE(make_plan(list, p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "swapab");
  EXPECT_FALSE(plan.pad_b);
}

// A stride-8 view of 1000 rows has 125 rows, which fill half a tile of 256. The 1000 adjacent rows of a copy
// fill four tiles.
TEST(Plan, CopiesFewRowsOfABesideAnUnalignedB) {
  Gemm p = unaligned_problem(1000, 4001, 3001);
  p.workspace_bytes = planned_workspace(with_unaligned(), p, h200);
  EXPECT_EQ(p.workspace_bytes, (1000U * 3008 * 2 + 255) / 256 * 256);
  Plan plan;
  ASSERT_TRUE(make_plan(with_unaligned(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "unaligned");
  EXPECT_TRUE(plan.pad_a && !plan.pad_b && !plan.swaps_ab);
  const Gemm run = planned_problem(p, plan);
  EXPECT_EQ(run.a.data, workspace);
  EXPECT_EQ(run.a.order, row_major);
  EXPECT_EQ(run.a.ld, 3008);
  EXPECT_EQ(run.b.data, p.b.data);
  EXPECT_EQ(run.b.ld, 3001);
  p.workspace_bytes -= 1;  // no room for the copy
  ASSERT_TRUE(make_plan(with_unaligned(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "unaligned");
  EXPECT_FALSE(plan.pad_a);
}

TEST(Plan, AnUnalignedKernelTakesAlignedOperandsIfItIsNamed) {
  Gemm p = problem(512, 512, 512);
  p.kernel = "unaligned";
  Plan plan;
  ASSERT_TRUE(make_plan(with_unaligned(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "unaligned");
  EXPECT_FALSE(plan.pad_a || plan.pad_b);
}

}  // namespace
}  // namespace tenon
