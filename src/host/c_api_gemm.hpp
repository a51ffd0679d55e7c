// From a tenon_gemm_problem to a tenon::Gemm.
#pragma once

#include "host/c_api_types.hpp"
#include "tenon/gemm.hpp"
#include "tenon/tuning.hpp"

struct tenon_tuning {
  tenon::Tuning table;
};

namespace tenon::c_api {

inline EpilogueOptions epilogue_of(const tenon_epilogue& x) noexcept {
  EpilogueOptions epilogue;
  epilogue.activation = static_cast<Activation>(x.activation);
  epilogue.bias = {x.bias.data, static_cast<Type>(x.bias.type)};
  epilogue.row_bias = {x.row_bias.data, static_cast<Type>(x.row_bias.type)};
  epilogue.row_scale = x.row_scale;
  epilogue.column_scale = x.column_scale;
  epilogue.aux = matrix_of(x.aux);
  epilogue.lower = x.lower;
  epilogue.upper = x.upper;
  epilogue.gated = x.gated != 0;
  epilogue.scale_d = x.scale_d;
  epilogue.absmax = x.absmax;
  epilogue.bias_gradient = x.bias_gradient;
  return epilogue;
}

inline Gemm problem_of(const tenon_gemm_problem& p) noexcept {
  Gemm problem;
  problem.m = p.m;
  problem.n = p.n;
  problem.k = p.k;
  problem.a = matrix_of(p.a);
  problem.b = matrix_of(p.b);
  problem.c = matrix_of(p.c);
  problem.d = matrix_of(p.d);
  problem.epilogue = epilogue_of(p.epilogue);
  problem.alpha = p.alpha;
  problem.beta = p.beta;
  problem.accumulate = static_cast<Type>(p.accumulate);
  problem.promote = p.promote != 0;
  problem.scale_a = p.scale_a;
  problem.scale_b = p.scale_b;
  problem.kernel = p.kernel;
  problem.tuning = p.tuning == nullptr ? nullptr : &p.tuning->table;
  problem.workspace = p.workspace;
  problem.workspace_bytes = p.workspace_bytes;
  problem.precision = static_cast<Precision>(p.precision);
  problem.multiprocessors = p.multiprocessors;
  problem.overlaps_previous = p.no_overlap == 0;
  return problem;
}

}  // namespace tenon::c_api
