// What a call of the C API of scaled products and quantisation passes to the C++ API, and returns:
// c_api_scaled.cpp, linked with functions of this file instead of the library.
#include <gtest/gtest.h>

#include <cstdint>

#include "tenon/gemm_scaled.hpp"
#include "tenon/quantize.hpp"
#include "tenon/tenon.h"

namespace tenon {
namespace {

// The last call.
struct Call {
  const char* function = "";
  ScaledGemm problem;
  Quantize what;
  CUstream_st* stream = nullptr;
} call;

Status answer;

}  // namespace

Status can_implement(const ScaledGemm& problem) noexcept {
  call.function = "can_implement", call.problem = problem;
  return answer;
}
const char* kernel_name(const ScaledGemm& problem) noexcept {
  call.function = "kernel_name", call.problem = problem;
  return "some kernel";
}
Status gemm(const ScaledGemm& problem, CUstream_st* stream) noexcept {
  call.function = "gemm", call.problem = problem, call.stream = stream;
  return answer;
}
Status quantize(const Quantize& what, CUstream_st* stream) noexcept {
  call.function = "quantize", call.what = what, call.stream = stream;
  return answer;
}

namespace {

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

tenon_scaled_gemm_problem some_problem() {
  tenon_scaled_gemm_problem p = tenon_scaled_gemm_problem_default();
  p.m = 1, p.n = 2, p.k = 3;
  p.a = {at<void>(16), 4, TENON_ROW_MAJOR, TENON_E4M3, {}};
  p.b = {at<void>(32), 5, TENON_COLUMN_MAJOR, TENON_E5M2, {}};
  p.c = {at<void>(48), 6, TENON_BF16, {}};
  p.alpha = 7, p.beta = 8;
  p.mode = TENON_SCALE_BLOCK_1X128_128X128;
  p.scale_a = {at<float>(64), 9, {}};
  p.scale_b = {at<float>(80), 10, {}};
  p.kernel = "kernel";
  p.multiprocessors = 77;
  p.no_overlap = 1;
  return p;
}

void expect_passed_on() {
  const ScaledGemm& p = call.problem;
  EXPECT_EQ(p.m, 1);
  EXPECT_EQ(p.n, 2);
  EXPECT_EQ(p.k, 3);
  EXPECT_EQ(p.a.data, at<void>(16));
  EXPECT_EQ(p.a.ld, 4);
  EXPECT_EQ(p.a.order, row_major);
  EXPECT_EQ(p.a.type, Type::e4m3);
  EXPECT_EQ(p.b.data, at<void>(32));
  EXPECT_EQ(p.b.ld, 5);
  EXPECT_EQ(p.b.order, column_major);
  EXPECT_EQ(p.b.type, Type::e5m2);
  EXPECT_EQ(p.c.data, at<void>(48));
  EXPECT_EQ(p.c.ld, 6);
  EXPECT_EQ(p.c.type, Type::bf16);
  EXPECT_EQ(p.alpha, 7);
  EXPECT_EQ(p.beta, 8);
  EXPECT_EQ(p.mode, ScaleMode::block_1x128_128x128);
  EXPECT_EQ(p.scale_a.data, at<float>(64));
  EXPECT_EQ(p.scale_a.ld, 9);
  EXPECT_EQ(p.scale_b.data, at<float>(80));
  EXPECT_EQ(p.scale_b.ld, 10);
  EXPECT_STREQ(p.kernel, "kernel");
  EXPECT_EQ(p.multiprocessors, 77);
  EXPECT_FALSE(p.overlaps_previous);
}

TEST(CApiScaled, EveryFieldOfAProductIsPassedOn) {
  const tenon_scaled_gemm_problem p = some_problem();
  answer = Status(StatusCode::unsupported, "why");
  const tenon_status can = tenon_scaled_gemm_can_implement(&p);
  EXPECT_EQ(can.code, TENON_UNSUPPORTED);
  EXPECT_STREQ(can.message, "why");
  EXPECT_STREQ(call.function, "can_implement");
  expect_passed_on();
  call = {};
  EXPECT_STREQ(tenon_scaled_gemm_kernel_name(&p), "some kernel");
  EXPECT_STREQ(call.function, "kernel_name");
  expect_passed_on();
  call = {};
  answer = Status();
  EXPECT_EQ(tenon_scaled_gemm(&p, at<CUstream_st>(96)).code, TENON_OK);
  EXPECT_STREQ(call.function, "gemm");
  EXPECT_EQ(call.stream, at<CUstream_st>(96));
  expect_passed_on();
}

TEST(CApiScaled, EveryFieldOfAQuantisationIsPassedOn) {
  tenon_quantize_problem p = tenon_quantize_problem_default();
  p.rows = 1, p.columns = 2;
  p.x = {at<void>(16), 3, TENON_ROW_MAJOR, TENON_F32, {}};
  p.up = {at<void>(32), 4, TENON_COLUMN_MAJOR, TENON_F16, {}};
  p.q = {at<void>(48), 5, TENON_E4M3, {}};
  p.blocks = TENON_SCALES_BLOCK_128X128;
  p.scales = at<float>(64);
  p.ld_scales = 6;
  answer = Status(StatusCode::invalid_argument, "why");
  const tenon_status status = tenon_quantize(&p, at<CUstream_st>(96));
  EXPECT_EQ(status.code, TENON_INVALID_ARGUMENT);
  EXPECT_STREQ(status.message, "why");
  const Quantize& what = call.what;
  EXPECT_EQ(call.stream, at<CUstream_st>(96));
  EXPECT_EQ(what.rows, 1);
  EXPECT_EQ(what.columns, 2);
  EXPECT_EQ(what.x.data, at<void>(16));
  EXPECT_EQ(what.x.ld, 3);
  EXPECT_EQ(what.x.order, row_major);
  EXPECT_EQ(what.x.type, Type::f32);
  EXPECT_EQ(what.up.data, at<void>(32));
  EXPECT_EQ(what.up.ld, 4);
  EXPECT_EQ(what.up.order, column_major);
  EXPECT_EQ(what.up.type, Type::f16);
  EXPECT_EQ(what.q.data, at<void>(48));
  EXPECT_EQ(what.q.ld, 5);
  EXPECT_EQ(what.q.type, Type::e4m3);
  EXPECT_EQ(what.blocks, ScaleBlocks::block_128x128);
  EXPECT_EQ(what.scales, at<float>(64));
  EXPECT_EQ(what.ld_scales, 6);
}

TEST(CApiScaled, NullPointersAreToldSo) {
  call = {};
  EXPECT_STREQ(tenon_scaled_gemm(nullptr, nullptr).message,
               "problem is a null pointer but must point to a tenon_scaled_gemm_problem");
  EXPECT_EQ(tenon_scaled_gemm_can_implement(nullptr).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_scaled_gemm_kernel_name(nullptr), nullptr);
  EXPECT_STREQ(tenon_quantize(nullptr, nullptr).message,
               "problem is a null pointer but must point to a tenon_quantize_problem");
  EXPECT_STREQ(call.function, "");
}

TEST(CApiScaled, DefaultsAreThoseOfTheHeader) {
  const tenon_scaled_gemm_problem p = tenon_scaled_gemm_problem_default();
  EXPECT_EQ(p.alpha, 1.0F);
  EXPECT_EQ(p.beta, 0.0F);
  EXPECT_EQ(p.mode, TENON_SCALE_PER_TENSOR);
  EXPECT_EQ(p.a.type, TENON_E4M3);
  EXPECT_EQ(p.a.order, TENON_ROW_MAJOR);
  EXPECT_EQ(p.b.type, TENON_E4M3);
  EXPECT_EQ(p.b.order, TENON_COLUMN_MAJOR);
  EXPECT_EQ(p.kernel, nullptr);
  EXPECT_EQ(p.multiprocessors, 0);
  EXPECT_EQ(p.no_overlap, 0);
}

}  // namespace
}  // namespace tenon
