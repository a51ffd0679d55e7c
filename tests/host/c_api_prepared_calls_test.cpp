// What a call of the C API of prepared products passes to the C++ API, and returns: c_api_prepared.cpp,
// linked with functions of this file instead of the library.
#include <gtest/gtest.h>

#include <cstdint>

#include "tenon/gemm_prepared.hpp"
#include "tenon/tenon.h"
#include "tenon/tuning.hpp"

namespace tenon {
namespace {

// The last call.
struct Call {
  Gemm problem;
  const PreparedGemm* prepared = nullptr;
  GemmPointers pointers;
  CUstream_st* stream = nullptr;
} call;

Status answer;

}  // namespace

Tuning::~Tuning() = default;
Status prepare(const Gemm& problem, PreparedGemm* prepared) noexcept {
  call.problem = problem, call.prepared = prepared;
  return answer;
}
Status PreparedGemm::run(const GemmPointers& pointers, CUstream_st* stream) const noexcept {
  call.prepared = this, call.pointers = pointers, call.stream = stream;
  return answer;
}
const char* PreparedGemm::kernel_name() const noexcept {
  return "some kernel";
}

namespace {

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

tenon_gemm_problem some_problem() {
  tenon_gemm_problem p{};
  p.struct_bytes = sizeof p;  // tenon_gemm_problem_default() is in another file of the library
  p.m = 7;
  p.epilogue.bias.data = at<void>(0x40);
  return p;
}

TEST(CApiPrepared, EveryFieldIsPassedOn) {
  answer = Status();
  tenon_gemm_problem p = some_problem();
  tenon_prepared_gemm* prepared = nullptr;
  ASSERT_EQ(tenon_gemm_prepare(&p, &prepared).code, TENON_OK);
  ASSERT_NE(prepared, nullptr);
  EXPECT_EQ(call.problem.m, 7);
  EXPECT_EQ(call.problem.epilogue.bias.data, at<void>(0x40));
  EXPECT_STREQ(tenon_prepared_gemm_kernel_name(prepared), "some kernel");
  const PreparedGemm* const product = call.prepared;

  tenon_gemm_pointers x = tenon_gemm_pointers_default();
  x.a = at<void>(1), x.b = at<void>(2), x.c = at<void>(3), x.d = at<void>(4);
  x.workspace = at<void>(5);
  x.scale_a = at<float>(6), x.scale_b = at<float>(7);
  x.bias = at<void>(8), x.row_bias = at<void>(9);
  x.row_scale = at<float>(10), x.column_scale = at<float>(11);
  x.aux = at<void>(12);
  x.scale_d = at<float>(13), x.absmax = at<float>(14), x.bias_gradient = at<float>(15);
  ASSERT_EQ(tenon_prepared_gemm_run(prepared, &x, at<CUstream_st>(16)).code, TENON_OK);
  EXPECT_EQ(call.prepared, product);
  const GemmPointers& q = call.pointers;
  EXPECT_EQ(q.a, x.a);
  EXPECT_EQ(q.b, x.b);
  EXPECT_EQ(q.c, x.c);
  EXPECT_EQ(q.d, x.d);
  EXPECT_EQ(q.workspace, x.workspace);
  EXPECT_EQ(q.scale_a, x.scale_a);
  EXPECT_EQ(q.scale_b, x.scale_b);
  EXPECT_EQ(q.bias, x.bias);
  EXPECT_EQ(q.row_bias, x.row_bias);
  EXPECT_EQ(q.row_scale, x.row_scale);
  EXPECT_EQ(q.column_scale, x.column_scale);
  EXPECT_EQ(q.aux, x.aux);
  EXPECT_EQ(q.scale_d, x.scale_d);
  EXPECT_EQ(q.absmax, x.absmax);
  EXPECT_EQ(q.bias_gradient, x.bias_gradient);
  EXPECT_EQ(call.stream, at<CUstream_st>(16));
  ASSERT_EQ(tenon_prepared_gemm_run(prepared, nullptr, nullptr).code, TENON_OK);
  EXPECT_EQ(call.pointers.a, nullptr) << "no pointers: those of the problem";
  tenon_prepared_gemm_free(prepared);
}

TEST(CApiPrepared, FailuresAndNullPointersAreSentences) {
  answer = Status(StatusCode::unsupported, "no such product");
  tenon_gemm_problem p = some_problem();
  tenon_prepared_gemm* prepared = at<tenon_prepared_gemm>(16);
  const tenon_status refused = tenon_gemm_prepare(&p, &prepared);
  EXPECT_EQ(refused.code, TENON_UNSUPPORTED);
  EXPECT_STREQ(refused.message, "no such product");
  EXPECT_EQ(prepared, nullptr);
  EXPECT_EQ(tenon_gemm_prepare(nullptr, &prepared).code, TENON_INVALID_ARGUMENT);
  EXPECT_STREQ(tenon_gemm_prepare(&p, nullptr).message,
               "prepared is a null pointer but must point to a pointer for the prepared product");
  EXPECT_EQ(tenon_prepared_gemm_run(nullptr, nullptr, nullptr).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_prepared_gemm_kernel_name(nullptr), nullptr);
  tenon_prepared_gemm_free(nullptr);
}

}  // namespace
}  // namespace tenon
