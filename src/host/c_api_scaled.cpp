// tenon.h on top of gemm_scaled.hpp and quantize.hpp: each function converts the structs field by field.
#include "host/c_api_read.hpp"
#include "host/c_api_types.hpp"
#include "tenon/gemm_scaled.hpp"
#include "tenon/quantize.hpp"
#include "tenon/tenon.h"

using tenon::c_api::initialise;
using tenon::c_api::matrix_of;
using tenon::c_api::read;
using tenon::c_api::status_of;

namespace {

static_assert(TENON_SCALE_PER_TENSOR == static_cast<int>(tenon::ScaleMode::per_tensor) &&
                  TENON_SCALE_PER_ROW_COLUMN == static_cast<int>(tenon::ScaleMode::per_row_column) &&
                  TENON_SCALE_BLOCK_1X128_128X128 == static_cast<int>(tenon::ScaleMode::block_1x128_128x128),
              "tenon_scale_mode must number the modes as tenon::ScaleMode does");
static_assert(TENON_SCALES_PER_TENSOR == static_cast<int>(tenon::ScaleBlocks::per_tensor) &&
                  TENON_SCALES_PER_ROW == static_cast<int>(tenon::ScaleBlocks::per_row) &&
                  TENON_SCALES_BLOCK_1X128 == static_cast<int>(tenon::ScaleBlocks::block_1x128) &&
                  TENON_SCALES_BLOCK_128X128 == static_cast<int>(tenon::ScaleBlocks::block_128x128),
              "tenon_scale_blocks must number the blocks as tenon::ScaleBlocks does");

tenon::ScaledGemm problem_of(const tenon_scaled_gemm_problem& p) noexcept {
  tenon::ScaledGemm problem;
  problem.m = p.m;
  problem.n = p.n;
  problem.k = p.k;
  problem.a = matrix_of(p.a);
  problem.b = matrix_of(p.b);
  problem.c = matrix_of(p.c);
  problem.alpha = p.alpha;
  problem.beta = p.beta;
  problem.mode = static_cast<tenon::ScaleMode>(p.mode);
  problem.scale_a = {p.scale_a.data, p.scale_a.ld};
  problem.scale_b = {p.scale_b.data, p.scale_b.ld};
  problem.kernel = p.kernel;
  problem.multiprocessors = p.multiprocessors;
  problem.overlaps_previous = p.no_overlap == 0;
  return problem;
}

}  // namespace

extern "C" {

void tenon_scaled_gemm_problem_init(tenon_scaled_gemm_problem* problem, size_t struct_bytes) {
  tenon_scaled_gemm_problem defaults{};
  defaults.a.type = TENON_E4M3;
  defaults.b.type = TENON_E4M3;
  defaults.b.order = TENON_COLUMN_MAJOR;
  defaults.alpha = 1.0F;
  initialise(problem, struct_bytes, defaults);
}

tenon_status tenon_scaled_gemm_can_implement(const tenon_scaled_gemm_problem* problem) {
  tenon_scaled_gemm_problem p;
  const tenon::Status s = read(problem, &p);
  return status_of(s ? tenon::can_implement(problem_of(p)) : s);
}

const char* tenon_scaled_gemm_kernel_name(const tenon_scaled_gemm_problem* problem) {
  tenon_scaled_gemm_problem p;
  return read(problem, &p) ? tenon::kernel_name(problem_of(p)) : nullptr;
}

tenon_status tenon_scaled_gemm(const tenon_scaled_gemm_problem* problem, struct CUstream_st* stream) {
  tenon_scaled_gemm_problem p;
  const tenon::Status s = read(problem, &p);
  return status_of(s ? tenon::gemm(problem_of(p), stream) : s);
}

void tenon_quantize_problem_init(tenon_quantize_problem* problem, size_t struct_bytes) {
  initialise(problem, struct_bytes, tenon_quantize_problem{});
}

tenon_status tenon_quantize(const tenon_quantize_problem* problem, struct CUstream_st* stream) {
  tenon_quantize_problem p;
  if (const tenon::Status s = read(problem, &p); !s) return status_of(s);
  tenon::Quantize what;
  what.rows = p.rows;
  what.columns = p.columns;
  what.x = matrix_of(p.x);
  what.up = matrix_of(p.up);
  what.q = matrix_of(p.q);
  what.blocks = static_cast<tenon::ScaleBlocks>(p.blocks);
  what.scales = p.scales;
  what.ld_scales = p.ld_scales;
  return status_of(tenon::quantize(what, stream));
}
}
