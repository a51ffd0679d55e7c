// The prepared products of tenon.h on top of gemm_prepared.hpp.
#include <memory>
#include <new>

#include "host/c_api_gemm.hpp"
#include "host/c_api_read.hpp"
#include "tenon/gemm_prepared.hpp"
#include "tenon/tenon.h"

struct tenon_prepared_gemm {
  tenon::PreparedGemm product;
};

using tenon::c_api::initialise;
using tenon::c_api::problem_of;
using tenon::c_api::read;
using tenon::c_api::status_of;

namespace {

tenon_status null_argument(const char* name, const char* type) noexcept {
  return status_of(tenon::Status(tenon::StatusCode::invalid_argument,
                                 "%s is a null pointer but must point to a %s", name, type));
}

tenon::GemmPointers pointers_of(const tenon_gemm_pointers& x) noexcept {
  tenon::GemmPointers p;
  p.a = x.a, p.b = x.b, p.c = x.c, p.d = x.d;
  p.workspace = x.workspace;
  p.scale_a = x.scale_a, p.scale_b = x.scale_b;
  p.bias = x.bias, p.row_bias = x.row_bias;
  p.row_scale = x.row_scale, p.column_scale = x.column_scale;
  p.aux = x.aux;
  p.scale_d = x.scale_d, p.absmax = x.absmax, p.bias_gradient = x.bias_gradient;
  return p;
}

}  // namespace

extern "C" {

void tenon_gemm_pointers_init(tenon_gemm_pointers* pointers, size_t struct_bytes) {
  initialise(pointers, struct_bytes, tenon_gemm_pointers{});
}

tenon_status tenon_gemm_prepare(const tenon_gemm_problem* problem, tenon_prepared_gemm** prepared) {
  if (prepared == nullptr) return null_argument("prepared", "pointer for the prepared product");
  *prepared = nullptr;
  tenon_gemm_problem p;
  if (const tenon::Status s = read(problem, &p); !s) return status_of(s);
  std::unique_ptr<tenon_prepared_gemm> made(new (std::nothrow) tenon_prepared_gemm);
  if (made == nullptr) {
    return status_of(
        tenon::Status(tenon::StatusCode::cuda_error, "no host memory is left for a prepared product"));
  }
  const tenon::Status status = tenon::prepare(problem_of(p), &made->product);
  if (status) *prepared = made.release();
  return status_of(status);
}

tenon_status tenon_prepared_gemm_run(const tenon_prepared_gemm* prepared, const tenon_gemm_pointers* pointers,
                                     struct CUstream_st* stream) {
  if (prepared == nullptr) return null_argument("prepared", "tenon_prepared_gemm");
  if (pointers == nullptr) return status_of(prepared->product.run(tenon::GemmPointers(), stream));
  tenon_gemm_pointers p;
  if (const tenon::Status s = read(pointers, &p); !s) return status_of(s);
  return status_of(prepared->product.run(pointers_of(p), stream));
}

const char* tenon_prepared_gemm_kernel_name(const tenon_prepared_gemm* prepared) {
  return prepared == nullptr ? nullptr : prepared->product.kernel_name();
}

void tenon_prepared_gemm_free(tenon_prepared_gemm* prepared) {
  delete prepared;
}
}
