// What a call of the C API of products by slices passes to the C++ API, and returns: c_api_slices.cpp, linked
// with functions of this file instead of the library.
#include <gtest/gtest.h>

#include <cstdint>

#include "tenon/gemm_f64_slices.hpp"
#include "tenon/tenon.h"

namespace tenon {
namespace {

// The last call.
struct Call {
  const char* function = "";
  SlicedGemm problem;
  int bits = 0;
  std::int64_t k = 0;
  CUstream_st* stream = nullptr;
} call;

Status answer;

}  // namespace

Status can_implement(const SlicedGemm& problem) noexcept {
  call.function = "can_implement", call.problem = problem;
  return answer;
}
std::size_t workspace_size(const SlicedGemm& problem) noexcept {
  call.function = "workspace_size", call.problem = problem;
  return 1234;
}
Status gemm(const SlicedGemm& problem, CUstream_st* stream) noexcept {
  call.function = "gemm", call.problem = problem, call.stream = stream;
  return answer;
}
int slices_for(int bits, std::int64_t k) noexcept {
  call.bits = bits, call.k = k;
  return 11;
}

namespace {

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

void expect_passed_on() {
  const SlicedGemm& p = call.problem;
  EXPECT_EQ(p.m, 1);
  EXPECT_EQ(p.n, 2);
  EXPECT_EQ(p.k, 3);
  EXPECT_EQ(p.a.data, at<double>(16));
  EXPECT_EQ(p.a.ld, 4);
  EXPECT_EQ(p.a.order, column_major);
  EXPECT_EQ(p.b.data, at<double>(32));
  EXPECT_EQ(p.b.ld, 5);
  EXPECT_EQ(p.b.order, row_major);
  EXPECT_EQ(p.c.data, at<double>(48));
  EXPECT_EQ(p.c.ld, 6);
  EXPECT_EQ(p.alpha, 7);
  EXPECT_EQ(p.beta, 8);
  EXPECT_EQ(p.slices, 9);
  EXPECT_EQ(p.workspace, at<void>(512));
  EXPECT_EQ(p.workspace_bytes, 10U);
}

TEST(CApiSlices, EveryFieldIsPassedOn) {
  tenon_sliced_gemm_problem p = tenon_sliced_gemm_problem_default();
  p.m = 1, p.n = 2, p.k = 3;
  p.a = at<double>(16), p.lda = 4, p.order_a = TENON_COLUMN_MAJOR;
  p.b = at<double>(32), p.ldb = 5, p.order_b = TENON_ROW_MAJOR;
  p.c = at<double>(48), p.ldc = 6;
  p.alpha = 7, p.beta = 8, p.slices = 9;
  p.workspace = at<void>(512), p.workspace_bytes = 10;
  answer = Status(StatusCode::unsupported, "why");
  const tenon_status can = tenon_sliced_gemm_can_implement(&p);
  EXPECT_EQ(can.code, TENON_UNSUPPORTED);
  EXPECT_STREQ(can.message, "why");
  EXPECT_STREQ(call.function, "can_implement");
  expect_passed_on();
  call = {};
  EXPECT_EQ(tenon_sliced_gemm_workspace_size(&p), 1234U);
  EXPECT_STREQ(call.function, "workspace_size");
  expect_passed_on();
  call = {};
  answer = Status();
  EXPECT_EQ(tenon_sliced_gemm(&p, at<CUstream_st>(96)).code, TENON_OK);
  EXPECT_STREQ(call.function, "gemm");
  EXPECT_EQ(call.stream, at<CUstream_st>(96));
  expect_passed_on();
}

TEST(CApiSlices, NumberOfSlices) {
  EXPECT_EQ(tenon_slices_for(48, 8192), 11);
  EXPECT_EQ(call.bits, 48);
  EXPECT_EQ(call.k, 8192);
}

TEST(CApiSlices, DefaultsAreThoseOfTheCxxApi) {
  const tenon_sliced_gemm_problem p = tenon_sliced_gemm_problem_default();
  const SlicedGemm expected;
  EXPECT_EQ(p.alpha, expected.alpha);
  EXPECT_EQ(p.beta, expected.beta);
  EXPECT_EQ(p.slices, expected.slices);
  EXPECT_EQ(p.order_a, TENON_ROW_MAJOR);
  EXPECT_EQ(p.order_b, TENON_ROW_MAJOR);
  EXPECT_EQ(p.workspace, nullptr);
  EXPECT_EQ(p.workspace_bytes, 0U);
}

TEST(CApiSlices, NullProblems) {
  const char* const sentence = "problem is a null pointer but must point to a tenon_sliced_gemm_problem";
  EXPECT_STREQ(tenon_sliced_gemm(nullptr, nullptr).message, sentence);
  EXPECT_STREQ(tenon_sliced_gemm_can_implement(nullptr).message, sentence);
  EXPECT_EQ(tenon_sliced_gemm_can_implement(nullptr).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_sliced_gemm_workspace_size(nullptr), 0U);
}

}  // namespace
}  // namespace tenon
