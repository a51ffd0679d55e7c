// Plans with copies: which way comes first, the sentences if there is none, and matrices of a single row.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "host/kernel_list.hpp"
#include "host/plan.hpp"
#include "tenon/tuning.hpp"

namespace tenon {
namespace {

using test::a100;
using test::h200;
using test::kernel_list;
using test::problem;

void* const workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40);

// The list, and a kernel with row-interleaved views of A.
std::vector<Kernel> with_any_lda() {
  std::vector<Kernel> list = kernel_list();
  list.push_back(test::kernel("interleaved", Copy::tma, 128, 256, row_major, row_major));
  list.back().instruction = Instruction::wgmma;
  list.back().row_interleaved = true;
  return list;
}

// The list, and a kernel for unaligned operands.
std::vector<Kernel> with_unaligned() {
  std::vector<Kernel> list = kernel_list();
  list.push_back(test::unaligned_kernel("unaligned"));
  return list;
}

// The plan with the workspace that it asks for, and with a tuning table that has the kernel `tuned` for this
// problem (layout tn, f16) if that is not null.
Plan planned(const std::vector<Kernel>& list, Gemm p, const char* tuned = nullptr) {
  Tuning table;
  if (tuned != nullptr) {
    char text[512];
    std::snprintf(
        text, sizeof text,
        R"({"tenon_tuning": 1, "device": "NVIDIA H200", "sm": 90, "multiprocessors": 132, "entries": [
{"a": "f16", "b": "f16", "accumulate": "f32", "c": "%s", "promote": false, "layout": "tn", "m": %lld, "n": %lld,
"k": %lld, "kernel": "%s", "microseconds": 1, "documented": "x", "documented_microseconds": 2}]})",
        name(p.c.type), static_cast<long long>(p.m), static_cast<long long>(p.n), static_cast<long long>(p.k),
        tuned);
    const Status s = table.load_text(text, std::strlen(text));
    EXPECT_TRUE(s) << s.message();
    p.tuning = &table;
  }
  p.workspace_bytes = planned_workspace(list, p, h200);
  p.workspace = p.workspace_bytes != 0 ? workspace : nullptr;
  Plan plan;
  const Status s = make_plan(list, p, h200, &plan);
  EXPECT_TRUE(s) << s.message();
  return plan;
}

// The cheaper kernel runs from a copy of B, that of the table from copies of both operands.
TEST(PlanOfCopies, TheKernelOfTheTableComesBeforeOneThatCostsLess) {
  const std::vector<Kernel> list = with_any_lda();
  Gemm p = problem(4095, 511, 4095);
  p.c.type = Type::f16;
  Plan plan = planned(list, p);
  EXPECT_EQ(plan.kernel->name, "interleaved");
  EXPECT_TRUE(!plan.pad_a && plan.pad_b);
  plan = planned(list, p, "async_64x64");
  EXPECT_EQ(plan.kernel->name, "async_64x64");
  EXPECT_TRUE(plan.pad_a && plan.pad_b);
}

// The cheaper kernel needs no copies, that of the table reads copies.
TEST(PlanOfCopies, TheKernelOfTheTableComesBeforeOneThatNeedsNoCopies) {
  const std::vector<Kernel> list = with_unaligned();
  Gemm p = problem(2047, 2047, 2047);
  p.c.type = Type::f16;
  Plan plan = planned(list, p);
  EXPECT_EQ(plan.kernel->name, "unaligned");
  EXPECT_FALSE(plan.pad_a || plan.pad_b);
  plan = planned(list, p, "tma_256x128");
  EXPECT_EQ(plan.kernel->name, "tma_256x128");
  EXPECT_TRUE(plan.pad_a && plan.pad_b);
}

void expect_refusal(const Gemm& p, const DeviceDescription& device, StatusCode code, const char* sentence,
                    const std::vector<Kernel>& list = kernel_list()) {
  Plan plan;
  const Status s = make_plan(list, p, device, &plan);
  EXPECT_EQ(s.code(), code);
  EXPECT_STREQ(s.message(), sentence);
}

// There are kernels for such operands, but not of this size: the sentence names the size.
TEST(PlanOfCopies, SaysWhichSizeIsTooLarge) {
  const std::int64_t columns = std::int64_t{1} << 30;
  Gemm p = problem(1, columns, 16, Type::s8);
  const char* const too_wide = "kernel s8 needs n <= 1073741823 but n is 1073741824";
  expect_refusal(p, h200, StatusCode::unsupported, too_wide);
  p.b.ld = 17;
  expect_refusal(p, h200, StatusCode::unsupported, too_wide);
  p.b = {p.b.data, columns, row_major, Type::s8};
  expect_refusal(p, h200, StatusCode::unsupported, too_wide);
  p.n -= 1;
  p.workspace = workspace;
  p.workspace_bytes = planned_workspace(kernel_list(), p, h200);
  Plan plan;
  EXPECT_TRUE(make_plan(kernel_list(), p, h200, &plan));

  // The module runs by name only: its needs do not go into the sentence.
  std::vector<Kernel> list = {kernel_list()[0], kernel_list()[1]};
  list[1].instruction = Instruction::wgmma;
  expect_refusal(problem(1, columns, 16), h200, StatusCode::unsupported,
                 "kernel tma_256x128 needs n <= 1073741823 but n is 1073741824", list);
}

// A tensor map holds strides below 2^40 bytes. C has one too if TMA stores it.
TEST(PlanOfCopies, SaysWhichRowsOfCAreTooFarApart) {
  Gemm p = problem(64, 64, 64, Type::tf32);
  p.c.ld = std::int64_t{1} << 38;
  expect_refusal(p, h200, StatusCode::unsupported,
                 "kernel tf32 copies by TMA: ldc is 274877906944 but needs <= 274877906940");
  Plan plan;
  p.c.ld -= 4;
  EXPECT_TRUE(make_plan(kernel_list(), p, h200, &plan));
  p.c.ld += 5;
  EXPECT_TRUE(make_plan(kernel_list(), p, h200, &plan)) << "TMA does not store these rows";
  p = problem(64, 64, 64);
  p.c.ld = std::int64_t{1} << 38;
  EXPECT_TRUE(accepts(test::unaligned_kernel("unaligned"), p, h200)) << "the warps store C";
  p.b.order = row_major;
  EXPECT_TRUE(accepts(with_any_lda().back(), p, h200));
  p.b.order = column_major;
  EXPECT_TRUE(make_plan(kernel_list(), p, h200, &plan));
}

// Kernels for f64 read both orders of each operand, so copies keep them.
TEST(PlanOfCopies, F64KeepsItsOrders) {
  std::vector<Kernel> list;
  for (const Copy copy : {Copy::cp_async, Copy::any}) {
    list.push_back(test::kernel(copy == Copy::any ? "any" : "aligned", copy, copy == Copy::any ? 64 : 128, 64,
                                column_major, row_major, Type::f64));
    list.back().accumulate = Type::f64;
  }
  Gemm p = problem(3000, 2000, 101, Type::f64);
  p.accumulate = p.c.type = Type::f64;
  p.a = {p.a.data, 3001, column_major, Type::f64};
  p.b = {p.b.data, 2002, row_major, Type::f64};
  Plan plan;
  ASSERT_TRUE(make_plan(list, p, a100, &plan));
  EXPECT_EQ(plan.kernel->name, "any");
  EXPECT_FALSE(plan.pad_a || plan.pad_b);
  p.workspace_bytes = planned_workspace(list, p, a100);
  EXPECT_EQ(p.workspace_bytes, (101U * 3008 * 8 + 255) / 256 * 256);
  alignas(256) static char somewhere[1];
  p.workspace = somewhere;
  ASSERT_TRUE(make_plan(list, p, a100, &plan));
  EXPECT_EQ(plan.kernel->name, "aligned");
  EXPECT_TRUE(plan.pad_a && !plan.pad_b);
  EXPECT_EQ(planned_problem(p, plan).a.order, column_major);
}

TEST(PlanOfCopies, SaysThatAGridHoldsNoMoreCtas) {
  const Kernel& kernel = kernel_list()[1];
  const auto of_tiles = [](std::int64_t m, std::int64_t n) { return problem(256 * m, 128 * n, 8); };
  Status why;
  EXPECT_FALSE(accepts(kernel, of_tiles(1 << 15, 1 << 16), h200, &why));
  EXPECT_STREQ(why.message(),
               "kernel tma_256x128 needs at most 2147483647 CTAs, one for each tile of 256 x 128, but C has "
               "2147483648");
  EXPECT_TRUE(accepts(kernel, of_tiles((1 << 15) - 1, 1 << 16), h200, &why)) << why.message();
  // Clusters of two along n, or along m, have one tile more than C.
  EXPECT_TRUE(accepts(kernel, of_tiles(1 << 15, (1 << 16) - 1), h200));
  Kernel other = kernel;
  other.cluster = other.cluster_n = 2;
  EXPECT_FALSE(accepts(other, of_tiles(1 << 15, (1 << 16) - 1), h200));
  EXPECT_TRUE(accepts(other, of_tiles((1 << 15) - 1, (1 << 16) - 1), h200));
  other.cluster_n = 1;
  EXPECT_TRUE(accepts(other, of_tiles(1 << 15, (1 << 16) - 1), h200));
  EXPECT_FALSE(accepts(other, of_tiles((1 << 15) - 1, 1 << 16), h200));
  // Two CTAs for each tile.
  other.split = 2;
  EXPECT_FALSE(accepts(other, of_tiles(1 << 14, 1 << 16), h200));
  EXPECT_TRUE(accepts(other, of_tiles((1 << 14) - 1, 1 << 16), h200));
  // Eight tiles along m at a time.
  EXPECT_FALSE(accepts(test::unaligned_kernel("unaligned"), of_tiles((1 << 15) - 7, 1 << 16), h200));
  EXPECT_TRUE(accepts(test::unaligned_kernel("unaligned"), of_tiles((1 << 15) - 8, 1 << 16), h200));
}

// With and without copies.
TEST(PlanOfCopies, SaysWhichDeviceIsNeeded) {
  for (const Order a : {row_major, column_major}) {
    for (const Order b : {row_major, column_major}) {
      for (const std::int64_t ld : {64, 65}) {
        Gemm p = problem(64, 64, 64, Type::e4m3);
        p.a = {p.a.data, ld, a, Type::e4m3};
        p.b = {p.b.data, ld, b, Type::e4m3};
        expect_refusal(p, a100, StatusCode::device_unsupported,
                       "kernel e4m3 needs sm_90 exactly but the device is sm_80");
        p.kernel = "e4m3";
        expect_refusal(p, a100, StatusCode::device_unsupported,
                       "kernel e4m3 needs sm_90 exactly but the device is sm_80");
      }
    }
  }
}

// Refusals of the other ways do not replace the sentence of the usual one.
TEST(PlanOfCopies, SaysWhatIsWrongWithTheUsualWay) {
  Gemm p = problem(4095, 4095, 4095);
  expect_refusal(p, a100, StatusCode::device_unsupported,
                 "kernel tma_256x128 needs sm_90 exactly but the device is sm_80", {kernel_list()[1]});
  p.a.order = column_major;
  expect_refusal(p, a100, StatusCode::unsupported,
                 "this build has no kernel for f16 inputs accumulated in f32, A column-major, B column-major",
                 {kernel_list()[1]});
}

// Nothing reads the leading dimension of a single row.
TEST(PlanOfCopies, TheLeadingDimensionOfASingleRowDecidesNothing) {
  for (const std::int64_t ld : {std::int64_t{4095}, std::int64_t{5001}, std::int64_t{1} << 45}) {
    Gemm p = problem(1, 4096, 4095, Type::e4m3);
    p.a.ld = ld;
    p.b.ld = 4096;
    p.c.ld = ld + 2;
    EXPECT_EQ(planned_workspace(kernel_list(), p, h200), 0U);
    Plan plan;
    ASSERT_TRUE(make_plan(kernel_list(), p, h200, &plan));
    EXPECT_EQ(plan.kernel->name, "e4m3");
    const Gemm run = planned_problem(p, plan);
    EXPECT_EQ(run.a.data, p.a.data);
    EXPECT_EQ(run.a.ld, 4096);
    EXPECT_EQ(run.b.ld, 4096);
    EXPECT_EQ(run.c.ld, 4096);
    p.a.data = static_cast<const char*>(p.a.data) + 1;
    EXPECT_EQ(planned_workspace(kernel_list(), p, h200), 4096U) << "the address is still unaligned";
  }
  const std::int64_t odd = 4097;
  Gemm p = problem(4096, 1, 4096);
  p.b.ld = odd;  // one column
  EXPECT_EQ(with_unused_lds_aligned(p).b.ld, 4096);
  EXPECT_EQ(with_unused_lds_aligned(p).a.ld, 4096);
  p = problem(100, 96, 1);
  p.a = {p.a.data, odd, column_major, Type::f16};
  p.b = {p.b.data, odd, row_major, Type::f16};
  p.c.ld = odd;
  EXPECT_EQ(with_unused_lds_aligned(p).a.ld, 128);
  EXPECT_EQ(with_unused_lds_aligned(p).b.ld, 128);
  EXPECT_EQ(with_unused_lds_aligned(p).c.ld, odd) << "100 rows";
}

// What a stream-K kernel needs of the workspace lies behind the copies, which it reads.
TEST(PlanOfCopies, TheWorkspaceOfAKernelLiesBehindTheCopies) {
  int stream_k = 0;
  for (const Kernel& kernel : kernels()) {
    if (kernel.partial_bytes == 0) continue;
    ++stream_k;
    Gemm p = problem(1501, 1003, 2005, kernel.type);
    p.accumulate = kernel.accumulate;
    p.a.order = kernel.a_order, p.a.ld = kernel.a_order == row_major ? p.k : p.m;
    p.b.order = kernel.b_order, p.b.ld = kernel.b_order == row_major ? p.n : p.k;
    p.kernel = kernel.name.c_str();
    p.workspace_bytes = planned_workspace(kernels(), p, h200);
    p.workspace = workspace;
    Plan plan;
    ASSERT_TRUE(make_plan(kernels(), p, h200, &plan));
    EXPECT_TRUE(plan.pad_a && plan.pad_b) << kernel.name;
    const Gemm run = planned_problem(p, plan);
    const auto bytes_of = [](const ConstMatrix& x, std::int64_t rows, std::int64_t columns) {
      return static_cast<std::ptrdiff_t>((x.order == row_major ? rows : columns) * x.ld) *
             static_cast<std::ptrdiff_t>(bytes(x.type));
    };
    const auto* const own = static_cast<const char*>(run.workspace);
    EXPECT_GE(own - static_cast<const char*>(run.a.data), bytes_of(run.a, p.m, p.k)) << kernel.name;
    EXPECT_GE(own - static_cast<const char*>(run.b.data), bytes_of(run.b, p.k, p.n)) << kernel.name;
    EXPECT_GE(run.workspace_bytes, kernel.workspace_bytes(h200)) << kernel.name;
    EXPECT_EQ(own + run.workspace_bytes, static_cast<const char*>(workspace) + p.workspace_bytes);
    // A byte less is too little for the kernel.
    p.workspace_bytes -= 1;
    EXPECT_EQ(make_plan(kernels(), p, h200, &plan).code(), StatusCode::workspace_too_small) << kernel.name;
  }
  EXPECT_GT(stream_k, 0);
}

}  // namespace
}  // namespace tenon
