// What a call of the C API passes to the C++ API, and returns: c_api.cpp, linked with functions of this file
// instead of the library.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tenon/gemm.hpp"
#include "tenon/gemm_batched.hpp"
#include "tenon/gemm_grouped.hpp"
#include "tenon/tenon.h"
#include "tenon/tuning.hpp"

namespace tenon {
namespace {

// The last call.
struct Call {
  const char* function = "";
  Gemm problem;
  GroupedGemm grouped;
  BatchedGemm batch;
  CUstream_st* stream = nullptr;
  const Tuning* loaded = nullptr;
  std::string path;
} call;

Status answer;

Status note(const char* function, const Gemm& problem, CUstream_st* stream = nullptr) {
  call.function = function;
  call.problem = problem;
  call.stream = stream;
  return answer;
}

Status note(const char* function, const GroupedGemm& problem, CUstream_st* stream = nullptr) {
  call.function = function;
  call.grouped = problem;
  call.stream = stream;
  return answer;
}

Status note(const char* function, const BatchedGemm& batch, CUstream_st* stream = nullptr) {
  call.batch = batch;
  return note(function, batch.problem, stream);
}

}  // namespace

Status can_implement(const GroupedGemm& problem) noexcept {
  return note("can_implement", problem);
}
const char* kernel_name(const GroupedGemm& problem) noexcept {
  note("kernel_name", problem);
  return "some grouped kernel";
}
Status gemm_grouped(const GroupedGemm& problem, CUstream_st* stream) noexcept {
  return note("gemm_grouped", problem, stream);
}
Status can_implement(const BatchedGemm& batch) noexcept {
  return note("can_implement a batch", batch);
}
const char* kernel_name(const BatchedGemm& batch) noexcept {
  note("kernel_name of a batch", batch);
  return "a batched kernel";
}
Status gemm_batched(const BatchedGemm& batch, CUstream_st* stream) noexcept {
  return note("gemm_batched", batch, stream);
}
Status can_implement(const Gemm& problem) noexcept {
  return note("can_implement", problem);
}
std::size_t workspace_size(const Gemm& problem) noexcept {
  note("workspace_size", problem);
  return 4321;
}
const char* kernel_name(const Gemm& problem) noexcept {
  note("kernel_name", problem);
  return "some kernel";
}
Status gemm(const Gemm& problem, CUstream_st* stream) noexcept {
  return note("gemm", problem, stream);
}

Tuning::~Tuning() = default;
Status Tuning::load(const char* path) noexcept {
  call.loaded = this;
  call.path = path;
  return answer;
}

namespace {

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

// Two problems that share no value of a field with each other or with the default problem.
tenon_gemm_problem of_c(int which, const tenon_tuning* tuning) {
  const bool first = which == 0;
  tenon_gemm_problem p = tenon_gemm_problem_default();
  p.m = 1 + 100 * which;
  p.n = 2 + 100 * which;
  p.k = 3 + 100 * which;
  p.a = {at<void>(first ? 0x10 : 0x110),
         4 + 100 * which,
         first ? TENON_COLUMN_MAJOR : TENON_ROW_MAJOR,
         first ? TENON_E4M3 : TENON_BF16,
         {}};
  p.b = {at<void>(first ? 0x20 : 0x120),
         5 + 100 * which,
         first ? TENON_ROW_MAJOR : TENON_COLUMN_MAJOR,
         first ? TENON_E5M2 : TENON_TF32,
         {}};
  p.c = {at<void>(first ? 0x30 : 0x130), 6 + 100 * which, first ? TENON_F32 : TENON_S32, {}};
  p.alpha = first ? 0.5F : 3.0F;
  p.beta = first ? 0.25F : -1.0F;
  p.d = {at<void>(first ? 0x38 : 0x138), 8 + 100 * which, first ? TENON_BF16 : TENON_F16, {}};
  p.epilogue.activation = first ? TENON_GELU : TENON_CLAMP;
  p.epilogue.bias = {at<void>(first ? 0x80 : 0x180), first ? TENON_F16 : TENON_BF16, {}};
  p.epilogue.row_bias = {at<void>(first ? 0x90 : 0x190), first ? TENON_BF16 : TENON_F16, {}};
  p.epilogue.row_scale = at<const float>(first ? 0xa0 : 0x1a0);
  p.epilogue.column_scale = at<const float>(first ? 0xb0 : 0x1b0);
  p.epilogue.aux = {at<void>(first ? 0xc0 : 0x1c0), 9 + 100 * which, first ? TENON_F16 : TENON_BF16, {}};
  p.epilogue.lower = first ? -3.0F : -5.0F;
  p.epilogue.upper = first ? 4.0F : 6.0F;
  p.epilogue.gated = first ? 0 : 1;
  p.epilogue.scale_d = at<const float>(first ? 0xd0 : 0x1d0);
  p.epilogue.absmax = at<float>(first ? 0xe0 : 0x1e0);
  p.epilogue.bias_gradient = at<float>(first ? 0xf0 : 0x1f0);
  p.accumulate = first ? TENON_F16 : TENON_S32;
  p.promote = first ? 2 : 0;
  p.scale_a = at<const float>(first ? 0x40 : 0x140);
  p.scale_b = at<const float>(first ? 0x50 : 0x150);
  p.kernel = first ? "one" : "another";
  p.tuning = first ? tuning : nullptr;
  p.workspace = at<void>(first ? 0x60 : 0x160);
  p.workspace_bytes = first ? 7 : 107;
  p.precision = first ? TENON_PRECISION_BF16X6 : TENON_PRECISION_TF32;
  p.multiprocessors = 10 + 100 * which;
  p.no_overlap = first ? 2 : 0;
  return p;
}

void expect_arrived(const tenon_gemm_problem& p, const Tuning* tuning) {
  const Gemm& q = call.problem;
  EXPECT_EQ(q.m, p.m);
  EXPECT_EQ(q.n, p.n);
  EXPECT_EQ(q.k, p.k);
  EXPECT_EQ(q.a.data, p.a.data);
  EXPECT_EQ(q.a.ld, p.a.ld);
  EXPECT_EQ(static_cast<int>(q.a.order), static_cast<int>(p.a.order));
  EXPECT_EQ(static_cast<int>(q.a.type), static_cast<int>(p.a.type));
  EXPECT_EQ(q.b.data, p.b.data);
  EXPECT_EQ(q.b.ld, p.b.ld);
  EXPECT_EQ(static_cast<int>(q.b.order), static_cast<int>(p.b.order));
  EXPECT_EQ(static_cast<int>(q.b.type), static_cast<int>(p.b.type));
  EXPECT_EQ(q.c.data, p.c.data);
  EXPECT_EQ(q.c.ld, p.c.ld);
  EXPECT_EQ(static_cast<int>(q.c.type), static_cast<int>(p.c.type));
  EXPECT_EQ(q.alpha, p.alpha);
  EXPECT_EQ(q.beta, p.beta);
  EXPECT_EQ(q.d.data, p.d.data);
  EXPECT_EQ(q.d.ld, p.d.ld);
  EXPECT_EQ(static_cast<int>(q.d.type), static_cast<int>(p.d.type));
  const EpilogueOptions& e = q.epilogue;
  EXPECT_EQ(static_cast<int>(e.activation), static_cast<int>(p.epilogue.activation));
  EXPECT_EQ(e.bias.data, p.epilogue.bias.data);
  EXPECT_EQ(static_cast<int>(e.bias.type), static_cast<int>(p.epilogue.bias.type));
  EXPECT_EQ(e.row_bias.data, p.epilogue.row_bias.data);
  EXPECT_EQ(static_cast<int>(e.row_bias.type), static_cast<int>(p.epilogue.row_bias.type));
  EXPECT_EQ(e.row_scale, p.epilogue.row_scale);
  EXPECT_EQ(e.column_scale, p.epilogue.column_scale);
  EXPECT_EQ(e.aux.data, p.epilogue.aux.data);
  EXPECT_EQ(e.aux.ld, p.epilogue.aux.ld);
  EXPECT_EQ(static_cast<int>(e.aux.type), static_cast<int>(p.epilogue.aux.type));
  EXPECT_EQ(e.lower, p.epilogue.lower);
  EXPECT_EQ(e.gated, p.epilogue.gated != 0);
  EXPECT_EQ(e.scale_d, p.epilogue.scale_d);
  EXPECT_EQ(e.absmax, p.epilogue.absmax);
  EXPECT_EQ(e.bias_gradient, p.epilogue.bias_gradient);
  EXPECT_EQ(e.upper, p.epilogue.upper);
  EXPECT_EQ(static_cast<int>(q.accumulate), static_cast<int>(p.accumulate));
  EXPECT_EQ(q.promote, p.promote != 0);
  EXPECT_EQ(q.scale_a, p.scale_a);
  EXPECT_EQ(q.scale_b, p.scale_b);
  EXPECT_EQ(q.kernel, p.kernel);
  EXPECT_EQ(q.tuning, p.tuning != nullptr ? tuning : nullptr);
  EXPECT_EQ(q.workspace, p.workspace);
  EXPECT_EQ(q.workspace_bytes, p.workspace_bytes);
  EXPECT_EQ(static_cast<int>(q.precision), static_cast<int>(p.precision));
  EXPECT_EQ(q.multiprocessors, p.multiprocessors);
  EXPECT_EQ(q.overlaps_previous, p.no_overlap == 0);
}

void expect_answer(const tenon_status& s) {
  EXPECT_EQ(static_cast<int>(s.code), static_cast<int>(answer.code()));
  EXPECT_STREQ(s.message, answer.message());
}

TEST(CApiCalls, TranslateEveryField) {
  tenon_tuning* tuning = nullptr;
  answer = Status();
  expect_answer(tenon_tuning_load("a path", &tuning));
  ASSERT_NE(tuning, nullptr);
  EXPECT_EQ(call.path, "a path");
  const Tuning* const table = call.loaded;
  auto* const stream = at<CUstream_st>(0x70);
  for (const int which : {0, 1}) {
    const tenon_gemm_problem p = of_c(which, tuning);
    for (const StatusCode code : {StatusCode::ok, StatusCode::unsupported, StatusCode::cuda_error}) {
      answer = code == StatusCode::ok ? Status() : Status(code, "sentence %d", which);
      call = {};
      expect_answer(tenon_gemm_can_implement(&p));
      EXPECT_STREQ(call.function, "can_implement");
      expect_arrived(p, table);
      call = {};
      expect_answer(tenon_gemm(&p, stream));
      EXPECT_STREQ(call.function, "gemm");
      EXPECT_EQ(call.stream, stream);
      expect_arrived(p, table);
    }
    call = {};
    EXPECT_EQ(tenon_gemm_workspace_size(&p), 4321U);
    EXPECT_STREQ(call.function, "workspace_size");
    expect_arrived(p, table);
    call = {};
    EXPECT_STREQ(tenon_gemm_kernel_name(&p), "some kernel");
    EXPECT_STREQ(call.function, "kernel_name");
    expect_arrived(p, table);
  }
  tenon_tuning_free(tuning);
}

// The same for grouped products.
tenon_gemm_grouped_problem grouped_of_c(int which) {
  const bool first = which == 0;
  tenon_gemm_grouped_problem p = tenon_gemm_grouped_problem_default();
  p.layout = first ? TENON_GROUPS_MASKED : TENON_GROUPS_DIVIDE_K;
  p.groups = 1 + 100 * which, p.m = 2 + 100 * which, p.n = 3 + 100 * which, p.k = 4 + 100 * which;
  p.a = {at<void>(first ? 0x10 : 0x110),
         5 + 100 * which,
         first ? TENON_COLUMN_MAJOR : TENON_ROW_MAJOR,
         first ? TENON_F16 : TENON_BF16,
         {}};
  p.b = {at<void>(first ? 0x20 : 0x120),
         6 + 100 * which,
         first ? TENON_ROW_MAJOR : TENON_COLUMN_MAJOR,
         first ? TENON_BF16 : TENON_F16,
         {}};
  p.b_stride = 7 + 100 * which;
  p.c = {at<void>(first ? 0x30 : 0x130), 8 + 100 * which, first ? TENON_F32 : TENON_BF16, {}};
  p.c_stride = 9 + 100 * which;
  p.sizes = at<void>(first ? 0x40 : 0x140);
  p.sizes_of_64_bits = first ? 2 : 0;
  p.alpha = first ? 0.5F : 3.0F, p.beta = first ? 0.25F : -1.0F;
  p.error = at<std::int32_t>(first ? 0x50 : 0x150);
  p.kernel = first ? "one" : "another";
  p.scale_a = {at<float>(first ? 0x60 : 0x160), 10 + 100 * which, {}};
  p.scale_b = {at<float>(first ? 0x80 : 0x180), 11 + 100 * which, {}};
  p.scale_b_stride = 12 + 100 * which;
  p.multiprocessors = 13 + 100 * which;
  p.no_overlap = first ? 2 : 0;
  return p;
}
void expect_arrived(const tenon_gemm_grouped_problem& p) {
  const GroupedGemm& q = call.grouped;
  EXPECT_EQ(static_cast<int>(q.layout), static_cast<int>(p.layout));
  EXPECT_EQ(q.groups, p.groups);
  EXPECT_EQ(q.m, p.m);
  EXPECT_EQ(q.n, p.n);
  EXPECT_EQ(q.k, p.k);
  EXPECT_EQ(q.a.data, p.a.data);
  EXPECT_EQ(q.a.ld, p.a.ld);
  EXPECT_EQ(static_cast<int>(q.a.order), static_cast<int>(p.a.order));
  EXPECT_EQ(static_cast<int>(q.a.type), static_cast<int>(p.a.type));
  EXPECT_EQ(q.b.data, p.b.data);
  EXPECT_EQ(q.b.ld, p.b.ld);
  EXPECT_EQ(static_cast<int>(q.b.order), static_cast<int>(p.b.order));
  EXPECT_EQ(static_cast<int>(q.b.type), static_cast<int>(p.b.type));
  EXPECT_EQ(q.b_stride, p.b_stride);
  EXPECT_EQ(q.c.data, p.c.data);
  EXPECT_EQ(q.c.ld, p.c.ld);
  EXPECT_EQ(static_cast<int>(q.c.type), static_cast<int>(p.c.type));
  EXPECT_EQ(q.c_stride, p.c_stride);
  EXPECT_EQ(q.sizes.data, p.sizes);
  EXPECT_EQ(q.sizes.words_of_64, p.sizes_of_64_bits != 0);
  EXPECT_EQ(q.alpha, p.alpha);
  EXPECT_EQ(q.beta, p.beta);
  EXPECT_EQ(q.error, p.error);
  EXPECT_EQ(q.kernel, p.kernel);
  EXPECT_EQ(q.scale_a.data, p.scale_a.data);
  EXPECT_EQ(q.scale_a.ld, p.scale_a.ld);
  EXPECT_EQ(q.scale_b.data, p.scale_b.data);
  EXPECT_EQ(q.scale_b.ld, p.scale_b.ld);
  EXPECT_EQ(q.scale_b_stride, p.scale_b_stride);
  EXPECT_EQ(q.multiprocessors, p.multiprocessors);
  EXPECT_EQ(q.overlaps_previous, p.no_overlap == 0);
}
TEST(CApiCalls, TranslateEveryFieldOfGroupedProducts) {
  auto* const stream = at<CUstream_st>(0x70);
  for (const int which : {0, 1}) {
    const tenon_gemm_grouped_problem p = grouped_of_c(which);
    answer = which == 0 ? Status() : Status(StatusCode::unsupported, "sentence");
    call = {};
    expect_answer(tenon_gemm_grouped_can_implement(&p));
    EXPECT_STREQ(call.function, "can_implement");
    expect_arrived(p);
    call = {};
    expect_answer(tenon_gemm_grouped(&p, stream));
    EXPECT_STREQ(call.function, "gemm_grouped");
    EXPECT_EQ(call.stream, stream);
    expect_arrived(p);
    call = {};
    EXPECT_STREQ(tenon_gemm_grouped_kernel_name(&p), "some grouped kernel");
    EXPECT_STREQ(call.function, "kernel_name");
    expect_arrived(p);
  }
  EXPECT_STREQ(tenon_gemm_grouped(nullptr, stream).message,
               "problem is a null pointer but must point to a tenon_gemm_grouped_problem");
  EXPECT_STREQ(tenon_gemm_grouped_can_implement(nullptr).message,
               "problem is a null pointer but must point to a tenon_gemm_grouped_problem");
  EXPECT_EQ(tenon_gemm_grouped_kernel_name(nullptr), nullptr);
}

TEST(CApiCalls, TranslateEveryFieldOfABatch) {
  auto* const stream = at<CUstream_st>(0x70);
  for (const int which : {0, 1}) {
    tenon_gemm_batch b = tenon_gemm_batch_default();
    const tenon_gemm_problem of_batch = of_c(which, nullptr);
    b.problem = &of_batch;
    b.count = 11 + 100 * which;
    b.stride_a = 12 + 100 * which, b.stride_b = 13 + 100 * which, b.stride_c = 14 + 100 * which;
    b.a_pointers = at<const void* const>(which == 0 ? 0x200 : 0x300);
    b.b_pointers = at<const void* const>(which == 0 ? 0x210 : 0x310);
    b.c_pointers = at<void* const>(which == 0 ? 0x220 : 0x320);
    b.list_alignment = 8 + 8 * which;
    const auto expect_batch = [&](const char* function) {
      EXPECT_STREQ(call.function, function);
      expect_arrived(of_batch, nullptr);
      EXPECT_EQ(call.batch.count, b.count);
      EXPECT_EQ(call.batch.stride_a, b.stride_a);
      EXPECT_EQ(call.batch.stride_b, b.stride_b);
      EXPECT_EQ(call.batch.stride_c, b.stride_c);
      EXPECT_EQ(call.batch.a_pointers, b.a_pointers);
      EXPECT_EQ(call.batch.b_pointers, b.b_pointers);
      EXPECT_EQ(call.batch.c_pointers, b.c_pointers);
      EXPECT_EQ(call.batch.list_alignment, b.list_alignment);
    };
    answer = which == 0 ? Status() : Status(StatusCode::unsupported, "a sentence");
    call = {};
    expect_answer(tenon_gemm_batched_can_implement(&b));
    expect_batch("can_implement a batch");
    call = {};
    expect_answer(tenon_gemm_batched(&b, stream));
    expect_batch("gemm_batched");
    EXPECT_EQ(call.stream, stream);
    call = {};
    EXPECT_STREQ(tenon_gemm_batched_kernel_name(&b), "a batched kernel");
    expect_batch("kernel_name of a batch");
  }
  EXPECT_EQ(tenon_gemm_batched(nullptr, stream).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_gemm_batched_can_implement(nullptr).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_gemm_batched_kernel_name(nullptr), nullptr);
}

TEST(CApiCalls, ATableThatCannotBeLoadedIsNone) {
  tenon_tuning* tuning = at<tenon_tuning>(0x80);
  answer = Status(StatusCode::invalid_argument, "no such file");
  expect_answer(tenon_tuning_load("a path", &tuning));
  EXPECT_EQ(tuning, nullptr);
  tenon_tuning_free(nullptr);
}

}  // namespace
}  // namespace tenon
