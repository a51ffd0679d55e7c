// What a call of the C API of attention passes to the C++ API, and returns: c_api_attention.cpp, linked with
// functions of this file instead of the library.
#include <gtest/gtest.h>

#include <cstdint>

#include "tenon/attention.hpp"
#include "tenon/attention_backward.hpp"
#include "tenon/tenon.h"

namespace tenon {
namespace {

// The last call.
struct Call {
  const char* function = "";
  AttentionProblem problem;
  AttentionBackwardProblem backward;
  const char* kernel = nullptr;
  CUstream_st* stream = nullptr;
} call;

Status answer;

}  // namespace

Status can_implement(const AttentionProblem& problem, const char* kernel) noexcept {
  call.function = "can_implement", call.problem = problem, call.kernel = kernel;
  return answer;
}
const char* kernel_name(const AttentionProblem& problem, const char* kernel) noexcept {
  call.function = "kernel_name", call.problem = problem, call.kernel = kernel;
  return "some kernel";
}
Status attention(const AttentionProblem& problem, CUstream_st* stream, const char* kernel) noexcept {
  call.function = "attention", call.problem = problem, call.kernel = kernel, call.stream = stream;
  return answer;
}
std::size_t workspace_size(const AttentionBackwardProblem& problem, const char* kernel) noexcept {
  call.function = "workspace_size", call.backward = problem, call.kernel = kernel;
  return 123;
}
Status can_implement(const AttentionBackwardProblem& problem, const char* kernel) noexcept {
  call.function = "can_implement backward", call.backward = problem, call.kernel = kernel;
  return answer;
}
const char* kernel_name(const AttentionBackwardProblem& problem, const char* kernel) noexcept {
  call.function = "kernel_name backward", call.backward = problem, call.kernel = kernel;
  return "some backward kernel";
}
Status attention_backward(const AttentionBackwardProblem& problem, CUstream_st* stream,
                          const char* kernel) noexcept {
  call.function = "attention_backward", call.backward = problem, call.kernel = kernel, call.stream = stream;
  return answer;
}

std::size_t workspace_size(const AttentionProblem& problem, const char* kernel) noexcept {
  call.function = "workspace_size", call.problem = problem, call.kernel = kernel;
  return 77;
}

namespace {

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

template <class Pointer>
void expect_tensor(const AttentionTensor<Pointer>& x, std::uintptr_t address) {
  const auto first = static_cast<std::int64_t>(address);
  EXPECT_EQ(x.data, at<void>(address));
  EXPECT_EQ(x.row_stride, first + 1);
  EXPECT_EQ(x.head_stride, first + 2);
  EXPECT_EQ(x.batch_stride, first + 3);
}

void expect_scales(const AttentionScales& x, std::uintptr_t address) {
  const auto first = static_cast<std::int64_t>(address);
  EXPECT_EQ(x.data, at<float>(address));
  EXPECT_EQ(x.head_stride, first + 1);
  EXPECT_EQ(x.batch_stride, first + 2);
}

void expect_passed_on() {
  const AttentionProblem& p = call.problem;
  EXPECT_EQ(p.batch, 1);
  EXPECT_EQ(p.heads, 6);
  EXPECT_EQ(p.key_heads, 3);
  EXPECT_EQ(p.queries, 4);
  EXPECT_EQ(p.keys, 5);
  EXPECT_EQ(p.head_dimension, 64);
  EXPECT_EQ(p.value_dimension, 128);
  EXPECT_EQ(p.type, Type::e4m3);
  EXPECT_EQ(p.output_type, Type::f16);
  expect_scales(p.q_scales, 112);
  expect_scales(p.k_scales, 128);
  expect_scales(p.v_scales, 144);
  expect_tensor(p.q, 16);
  expect_tensor(p.k, 32);
  expect_tensor(p.v, 48);
  expect_tensor(p.o, 64);
  EXPECT_EQ(p.log_sum_exp, at<float>(80));
  EXPECT_EQ(p.scale, 0.5F);
  EXPECT_EQ(p.window.left, 7);
  EXPECT_EQ(p.window.right, 8);
  EXPECT_EQ(p.soft_cap, 9.0F);
  EXPECT_EQ(p.alibi_slopes, at<float>(96));
  EXPECT_EQ(p.sinks, at<float>(100));
  EXPECT_EQ(p.query_offsets, at<std::int32_t>(104));
  EXPECT_EQ(p.key_offsets, at<std::int32_t>(108));
  EXPECT_EQ(p.key_lengths, at<std::int32_t>(112));
  EXPECT_EQ(p.query_rows, 10);
  EXPECT_EQ(p.key_rows, 11);
  EXPECT_EQ(p.pages.table, at<std::int32_t>(116));
  EXPECT_EQ(p.pages.table_stride, 12);
  EXPECT_EQ(p.pages.page_size, 13);
  EXPECT_EQ(p.pages.count, 14);
  EXPECT_EQ(p.error, at<std::int32_t>(120));
  EXPECT_EQ(p.workspace, at<void>(124));
  EXPECT_EQ(p.workspace_bytes, 15U);
  EXPECT_STREQ(call.kernel, "this one");
}

tenon_attention_problem problem() {
  tenon_attention_problem p = tenon_attention_problem_default();
  p.batch = 1, p.heads = 6, p.key_heads = 3, p.queries = 4, p.keys = 5;
  p.head_dimension = 64, p.value_dimension = 128, p.type = TENON_E4M3;
  p.q = {at<void>(16), 17, 18, 19, {}};
  p.k = {at<void>(32), 33, 34, 35, {}};
  p.v = {at<void>(48), 49, 50, 51, {}};
  p.o = {at<void>(64), 65, 66, 67, {}};
  p.log_sum_exp = at<float>(80), p.scale = 0.5F, p.left = 7, p.right = 8, p.soft_cap = 9;
  p.output_type = TENON_F16;
  p.q_scales = {at<float>(112), 113, 114, {}};
  p.k_scales = {at<float>(128), 129, 130, {}};
  p.v_scales = {at<float>(144), 145, 146, {}};
  p.alibi_slopes = at<float>(96), p.sinks = at<float>(100);
  p.query_offsets = at<std::int32_t>(104), p.key_offsets = at<std::int32_t>(108);
  p.key_lengths = at<std::int32_t>(112), p.query_rows = 10, p.key_rows = 11;
  p.pages = {at<std::int32_t>(116), 12, 13, 0, 14}, p.error = at<std::int32_t>(120);
  p.kernel = "this one";
  p.workspace = at<void>(124), p.workspace_bytes = 15;
  return p;
}

TEST(CApiAttention, PassesEveryFieldOn) {
  const tenon_attention_problem p = problem();
  answer = Status();
  EXPECT_EQ(tenon_attention_can_implement(&p).code, TENON_OK);
  EXPECT_STREQ(call.function, "can_implement");
  expect_passed_on();
  call = {};
  EXPECT_STREQ(tenon_attention_kernel_name(&p), "some kernel");
  expect_passed_on();
  call = {};
  EXPECT_EQ(tenon_attention_workspace_size(&p), 77U);
  EXPECT_STREQ(call.function, "workspace_size");
  expect_passed_on();
  call = {};
  EXPECT_EQ(tenon_attention(&p, at<CUstream_st>(8)).code, TENON_OK);
  EXPECT_STREQ(call.function, "attention");
  EXPECT_EQ(call.stream, at<CUstream_st>(8));
  expect_passed_on();
}

TEST(CApiAttention, ReturnsTheStatus) {
  const tenon_attention_problem p = problem();
  answer = Status(StatusCode::unsupported, "no");
  EXPECT_EQ(tenon_attention(&p, nullptr).code, TENON_UNSUPPORTED);
  EXPECT_STREQ(tenon_attention_can_implement(&p).message, "no");
}

TEST(CApiAttention, Defaults) {
  const tenon_attention_problem p = tenon_attention_problem_default();
  EXPECT_EQ(p.left, -1);
  EXPECT_EQ(p.right, -1);
  EXPECT_EQ(p.batch, 0);
  EXPECT_EQ(p.output_type, TENON_BF16);
  EXPECT_EQ(p.kernel, nullptr);
  EXPECT_EQ(p.workspace, nullptr);
}

TEST(CApiAttention, RefusesNull) {
  call = {};
  EXPECT_STREQ(tenon_attention(nullptr, nullptr).message,
               "problem is a null pointer but must point to a tenon_attention_problem");
  EXPECT_EQ(tenon_attention_can_implement(nullptr).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_attention_kernel_name(nullptr), nullptr);
  EXPECT_EQ(tenon_attention_workspace_size(nullptr), 0U);
  EXPECT_STREQ(call.function, "");
}

tenon_attention_backward_problem backward_problem() {
  static const tenon_attention_problem forward = problem();
  tenon_attention_backward_problem p = tenon_attention_backward_problem_default();
  p.forward = &forward;
  p.d_o = {at<void>(112), 113, 114, 115, {}};
  p.dq = {at<void>(128), 129, 130, 131, {}};
  p.dk = {at<void>(144), 145, 146, 147, {}};
  p.dv = {at<void>(160), 161, 162, 163, {}};
  p.workspace = at<void>(256), p.workspace_bytes = 77, p.deterministic = 1;
  return p;
}

void expect_backward_passed_on(const char* function) {
  EXPECT_STREQ(call.function, function);
  const AttentionBackwardProblem& p = call.backward;
  call.problem = p.forward;
  expect_passed_on();
  expect_tensor(p.d_o, 112);
  expect_tensor(p.dq, 128);
  expect_tensor(p.dk, 144);
  expect_tensor(p.dv, 160);
  EXPECT_EQ(p.workspace, at<void>(256));
  EXPECT_EQ(p.workspace_bytes, 77U);
  EXPECT_TRUE(p.deterministic);
  call = {};
}

TEST(CApiAttentionBackward, PassesEveryFieldOn) {
  const tenon_attention_backward_problem p = backward_problem();
  answer = Status();
  EXPECT_EQ(tenon_attention_backward_can_implement(&p).code, TENON_OK);
  expect_backward_passed_on("can_implement backward");
  EXPECT_EQ(tenon_attention_backward_workspace_size(&p), 123U);
  expect_backward_passed_on("workspace_size");
  EXPECT_STREQ(tenon_attention_backward_kernel_name(&p), "some backward kernel");
  expect_backward_passed_on("kernel_name backward");
  EXPECT_EQ(tenon_attention_backward(&p, at<CUstream_st>(8)).code, TENON_OK);
  EXPECT_EQ(call.stream, at<CUstream_st>(8));
  expect_backward_passed_on("attention_backward");
  answer = Status(StatusCode::unsupported, "no");
  EXPECT_STREQ(tenon_attention_backward(&p, nullptr).message, "no");
}

TEST(CApiAttentionBackward, DefaultsAndNull) {
  const tenon_attention_backward_problem p = tenon_attention_backward_problem_default();
  EXPECT_EQ(p.forward, nullptr);
  EXPECT_EQ(p.deterministic, 0);
  EXPECT_EQ(p.workspace, nullptr);
  call = {};
  EXPECT_STREQ(tenon_attention_backward(nullptr, nullptr).message,
               "problem is a null pointer but must point to a tenon_attention_backward_problem");
  EXPECT_EQ(tenon_attention_backward_can_implement(nullptr).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_attention_backward_kernel_name(nullptr), nullptr);
  EXPECT_EQ(tenon_attention_backward_workspace_size(nullptr), 0U);
  EXPECT_STREQ(call.function, "");
}

}  // namespace
}  // namespace tenon
