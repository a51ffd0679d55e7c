// tenon.h on top of gemm.hpp: each function reads the structs (c_api_read.hpp) and converts them field by
// field.
#include <memory>
#include <new>
#include <string>

#include "host/c_api_gemm.hpp"
#include "host/c_api_read.hpp"
#include "tenon/gemm.hpp"
#include "tenon/gemm_batched.hpp"
#include "tenon/gemm_grouped.hpp"
#include "tenon/tenon.h"

using tenon::c_api::initialise;
using tenon::c_api::matrix_of;
using tenon::c_api::problem_of;
using tenon::c_api::read;
using tenon::c_api::status_of;

namespace {

static_assert(TENON_F16 == static_cast<int>(tenon::Type::f16) &&
                  TENON_BF16 == static_cast<int>(tenon::Type::bf16) &&
                  TENON_F32 == static_cast<int>(tenon::Type::f32) &&
                  TENON_TF32 == static_cast<int>(tenon::Type::tf32) &&
                  TENON_E4M3 == static_cast<int>(tenon::Type::e4m3) &&
                  TENON_E5M2 == static_cast<int>(tenon::Type::e5m2) &&
                  TENON_S8 == static_cast<int>(tenon::Type::s8) &&
                  TENON_S32 == static_cast<int>(tenon::Type::s32) &&
                  TENON_F64 == static_cast<int>(tenon::Type::f64),
              "tenon_type must number the types as tenon::Type does");
static_assert(TENON_PRECISION_NONE == static_cast<int>(tenon::Precision::none) &&
                  TENON_PRECISION_TF32 == static_cast<int>(tenon::Precision::tf32) &&
                  TENON_PRECISION_F16 == static_cast<int>(tenon::Precision::f16) &&
                  TENON_PRECISION_BF16 == static_cast<int>(tenon::Precision::bf16) &&
                  TENON_PRECISION_BF16X3 == static_cast<int>(tenon::Precision::bf16x3) &&
                  TENON_PRECISION_BF16X6 == static_cast<int>(tenon::Precision::bf16x6) &&
                  TENON_PRECISION_TF32X3 == static_cast<int>(tenon::Precision::tf32x3),
              "tenon_precision must number the precisions as tenon::Precision does");
static_assert(TENON_ROW_MAJOR == static_cast<int>(tenon::row_major) &&
                  TENON_COLUMN_MAJOR == static_cast<int>(tenon::column_major),
              "tenon_order must number the orders as tenon::Order does");
static_assert(TENON_INVALID_ARGUMENT == static_cast<int>(tenon::StatusCode::invalid_argument) &&
                  TENON_UNSUPPORTED == static_cast<int>(tenon::StatusCode::unsupported) &&
                  TENON_DEVICE_UNSUPPORTED == static_cast<int>(tenon::StatusCode::device_unsupported) &&
                  TENON_WORKSPACE_TOO_SMALL == static_cast<int>(tenon::StatusCode::workspace_too_small) &&
                  TENON_CUDA_ERROR == static_cast<int>(tenon::StatusCode::cuda_error),
              "tenon_status_code must number the codes as tenon::StatusCode does");

static_assert(TENON_NONE == static_cast<int>(tenon::Activation::none) &&
                  TENON_RELU == static_cast<int>(tenon::Activation::relu) &&
                  TENON_GELU == static_cast<int>(tenon::Activation::gelu) &&
                  TENON_GELU_ERF == static_cast<int>(tenon::Activation::gelu_erf) &&
                  TENON_SILU == static_cast<int>(tenon::Activation::silu) &&
                  TENON_CLAMP == static_cast<int>(tenon::Activation::clamp) &&
                  TENON_DRELU == static_cast<int>(tenon::Activation::drelu) &&
                  TENON_DGELU == static_cast<int>(tenon::Activation::dgelu),
              "tenon_activation must number the activations as tenon::Activation does");

static_assert(TENON_GROUPS_CONTIGUOUS == static_cast<int>(tenon::GroupLayout::contiguous) &&
                  TENON_GROUPS_MASKED == static_cast<int>(tenon::GroupLayout::masked) &&
                  TENON_GROUPS_DIVIDE_K == static_cast<int>(tenon::GroupLayout::divides_k),
              "tenon_group_layout must number the layouts as tenon::GroupLayout does");

tenon::GroupedGemm problem_of(const tenon_gemm_grouped_problem& p) noexcept {
  tenon::GroupedGemm problem;
  problem.layout = static_cast<tenon::GroupLayout>(p.layout);
  problem.groups = p.groups;
  problem.m = p.m;
  problem.n = p.n;
  problem.k = p.k;
  problem.a = matrix_of(p.a);
  problem.b = matrix_of(p.b);
  problem.b_stride = p.b_stride;
  problem.c = matrix_of(p.c);
  problem.c_stride = p.c_stride;
  problem.sizes.data = p.sizes;
  problem.sizes.words_of_64 = p.sizes_of_64_bits != 0;
  problem.alpha = p.alpha;
  problem.beta = p.beta;
  problem.error = p.error;
  problem.kernel = p.kernel;
  problem.scale_a = {p.scale_a.data, p.scale_a.ld};
  problem.scale_b = {p.scale_b.data, p.scale_b.ld};
  problem.scale_b_stride = p.scale_b_stride;
  problem.multiprocessors = p.multiprocessors;
  problem.overlaps_previous = p.no_overlap == 0;
  return problem;
}

// A batch and its problem 0, as the program has them.
struct Batch {
  tenon_gemm_batch batch;
  tenon_gemm_problem problem;
};
tenon::Status read_batch(const tenon_gemm_batch* from, Batch* to) noexcept {
  const tenon::Status s = read(from, &to->batch);
  return s ? read(to->batch.problem, &to->problem, "batch->problem") : s;
}

tenon::BatchedGemm batch_of(const Batch& given) noexcept {
  const tenon_gemm_batch& b = given.batch;
  tenon::BatchedGemm batch;
  batch.problem = problem_of(given.problem);
  batch.count = b.count;
  batch.stride_a = b.stride_a;
  batch.stride_b = b.stride_b;
  batch.stride_c = b.stride_c;
  batch.a_pointers = b.a_pointers;
  batch.b_pointers = b.b_pointers;
  batch.c_pointers = b.c_pointers;
  batch.list_alignment = b.list_alignment;
  return batch;
}

}  // namespace

extern "C" {

const char* tenon_version(void) {
  static const std::string version = std::to_string(TENON_VERSION_MAJOR) + "." +
                                     std::to_string(TENON_VERSION_MINOR) + "." +
                                     std::to_string(TENON_VERSION_PATCH);
  return version.c_str();
}

void tenon_gemm_problem_init(tenon_gemm_problem* problem, size_t struct_bytes) {
  tenon_gemm_problem defaults{};
  defaults.alpha = 1.0;
  defaults.accumulate = TENON_F32;
  initialise(problem, struct_bytes, defaults);
}

tenon_status tenon_gemm_can_implement(const tenon_gemm_problem* problem) {
  tenon_gemm_problem p;
  const tenon::Status s = read(problem, &p);
  return status_of(s ? tenon::can_implement(problem_of(p)) : s);
}

size_t tenon_gemm_workspace_size(const tenon_gemm_problem* problem) {
  tenon_gemm_problem p;
  return read(problem, &p) ? tenon::workspace_size(problem_of(p)) : 0;
}

const char* tenon_gemm_kernel_name(const tenon_gemm_problem* problem) {
  tenon_gemm_problem p;
  return read(problem, &p) ? tenon::kernel_name(problem_of(p)) : nullptr;
}

tenon_status tenon_gemm(const tenon_gemm_problem* problem, struct CUstream_st* stream) {
  tenon_gemm_problem p;
  const tenon::Status s = read(problem, &p);
  return status_of(s ? tenon::gemm(problem_of(p), stream) : s);
}

void tenon_gemm_grouped_problem_init(tenon_gemm_grouped_problem* problem, size_t struct_bytes) {
  tenon_gemm_grouped_problem defaults{};
  defaults.alpha = 1.0F;
  initialise(problem, struct_bytes, defaults);
}

tenon_status tenon_gemm_grouped_can_implement(const tenon_gemm_grouped_problem* problem) {
  tenon_gemm_grouped_problem p;
  const tenon::Status s = read(problem, &p);
  return status_of(s ? tenon::can_implement(problem_of(p)) : s);
}

const char* tenon_gemm_grouped_kernel_name(const tenon_gemm_grouped_problem* problem) {
  tenon_gemm_grouped_problem p;
  return read(problem, &p) ? tenon::kernel_name(problem_of(p)) : nullptr;
}

tenon_status tenon_gemm_grouped(const tenon_gemm_grouped_problem* problem, struct CUstream_st* stream) {
  tenon_gemm_grouped_problem p;
  const tenon::Status s = read(problem, &p);
  return status_of(s ? tenon::gemm_grouped(problem_of(p), stream) : s);
}

void tenon_gemm_batch_init(tenon_gemm_batch* batch, size_t struct_bytes) {
  initialise(batch, struct_bytes, tenon_gemm_batch{});
}

tenon_status tenon_gemm_batched_can_implement(const tenon_gemm_batch* batch) {
  Batch b;
  const tenon::Status s = read_batch(batch, &b);
  return status_of(s ? tenon::can_implement(batch_of(b)) : s);
}

const char* tenon_gemm_batched_kernel_name(const tenon_gemm_batch* batch) {
  Batch b;
  return read_batch(batch, &b) ? tenon::kernel_name(batch_of(b)) : nullptr;
}

tenon_status tenon_gemm_batched(const tenon_gemm_batch* batch, struct CUstream_st* stream) {
  Batch b;
  const tenon::Status s = read_batch(batch, &b);
  return status_of(s ? tenon::gemm_batched(batch_of(b), stream) : s);
}

tenon_status tenon_tuning_load(const char* path, tenon_tuning** tuning) {
  if (tuning == nullptr) {
    return status_of(tenon::Status(tenon::StatusCode::invalid_argument,
                                   "tuning is a null pointer but must point to a pointer for the table"));
  }
  *tuning = nullptr;
  std::unique_ptr<tenon_tuning> loaded(new (std::nothrow) tenon_tuning);
  if (loaded == nullptr) {
    return status_of(
        tenon::Status(tenon::StatusCode::cuda_error, "no host memory is left for the table of tunings"));
  }
  const tenon::Status status = loaded->table.load(path);
  if (status) *tuning = loaded.release();
  return status_of(status);
}

void tenon_tuning_free(tenon_tuning* tuning) {
  delete tuning;
}
}
