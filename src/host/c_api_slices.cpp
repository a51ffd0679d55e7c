// tenon.h on top of gemm_f64_slices.hpp: each function converts the structs field by field.
#include "host/c_api_read.hpp"
#include "host/c_api_types.hpp"
#include "tenon/gemm_f64_slices.hpp"
#include "tenon/tenon.h"

using tenon::c_api::initialise;
using tenon::c_api::read;
using tenon::c_api::status_of;

namespace {

static_assert(TENON_SLICES_AS_F64 == tenon::slices_as_f64,
              "tenon.h must have the number of slices of gemm_f64_slices.hpp");

tenon::SlicedGemm problem_of(const tenon_sliced_gemm_problem& p) noexcept {
  tenon::SlicedGemm problem;
  problem.m = p.m;
  problem.n = p.n;
  problem.k = p.k;
  problem.a = {p.a, p.lda, static_cast<tenon::Order>(p.order_a)};
  problem.b = {p.b, p.ldb, static_cast<tenon::Order>(p.order_b)};
  problem.c = {p.c, p.ldc};
  problem.alpha = p.alpha;
  problem.beta = p.beta;
  problem.slices = p.slices;
  problem.workspace = p.workspace;
  problem.workspace_bytes = p.workspace_bytes;
  return problem;
}

}  // namespace

extern "C" {

void tenon_sliced_gemm_problem_init(tenon_sliced_gemm_problem* problem, size_t struct_bytes) {
  tenon_sliced_gemm_problem defaults{};
  defaults.alpha = 1.0;
  defaults.slices = TENON_SLICES_AS_F64;
  initialise(problem, struct_bytes, defaults);
}

int tenon_slices_for(int bits, int64_t k) {
  return tenon::slices_for(bits, k);
}

tenon_status tenon_sliced_gemm_can_implement(const tenon_sliced_gemm_problem* problem) {
  tenon_sliced_gemm_problem p;
  const tenon::Status s = read(problem, &p);
  return status_of(s ? tenon::can_implement(problem_of(p)) : s);
}

size_t tenon_sliced_gemm_workspace_size(const tenon_sliced_gemm_problem* problem) {
  tenon_sliced_gemm_problem p;
  return read(problem, &p) ? tenon::workspace_size(problem_of(p)) : 0;
}

tenon_status tenon_sliced_gemm(const tenon_sliced_gemm_problem* problem, struct CUstream_st* stream) {
  tenon_sliced_gemm_problem p;
  const tenon::Status s = read(problem, &p);
  return status_of(s ? tenon::gemm(problem_of(p), stream) : s);
}
}
