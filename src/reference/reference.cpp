// The entry points of reference.hpp: checks, then the launcher of the algorithm.
#include "reference/reference.hpp"

#include "reference/launch.hpp"
#include "reference/validate.hpp"

namespace tenon::reference {

const std::vector<AlgorithmInfo>& algorithms() {
  static const std::vector<AlgorithmInfo> list = {
      {Algorithm::naive_f32, "naive_f32", false},      {Algorithm::tiled_f32, "tiled_f32", false},
      {Algorithm::wmma_basic, "wmma_basic", true},     {Algorithm::wmma_32x8x16, "wmma_32x8x16", true},
      {Algorithm::wmma_8x32x16, "wmma_8x32x16", true}, {Algorithm::wmma_shared, "wmma_shared", true},
  };
  return list;
}

const std::vector<AlgorithmOfType>& algorithms_of_other_types() {
  static const std::vector<AlgorithmOfType> list = {
      {Algorithm::wmma_16x16x8, "wmma_16x16x8", Type::tf32, Type::f32},
      {Algorithm::wmma_s8, "wmma_s8", Type::s8, Type::s32},
      {Algorithm::wmma_8x8x4, "wmma_8x8x4", Type::f64, Type::f64},
  };
  return list;
}

const AlgorithmInfo* find_algorithm(std::string_view name) {
  for (const AlgorithmInfo& info : algorithms()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

Status can_implement(Algorithm algorithm, const Gemm& problem) noexcept {
  for (const AlgorithmOfType& info : algorithms_of_other_types()) {
    if (info.algorithm == algorithm) return check_gemm_of(problem, info.operand, info.accumulate);
  }
  if (Status status = check_gemm(problem); !status) return status;
  const bool cuda_cores = algorithm == Algorithm::naive_f32 || algorithm == Algorithm::tiled_f32;
  if (!cuda_cores && problem.a.type == Type::f32) {
    return {StatusCode::unsupported,
            "A and B are f32 but the WMMA kernels need f16 or bf16 (gemm_mixed() converts)"};
  }
  return {};
}

Status gemm(Algorithm algorithm, const Gemm& problem, CUstream_st* stream) noexcept {
  if (Status status = can_implement(algorithm, problem); !status) return status;
  if (problem.m == 0 || problem.n == 0) return {};
  Gemm normal = problem;
  if (problem.k == 0 ||
      problem.alpha == 0.0) {  // either way the result is beta * C, and A and B are not read
    normal.k = 0;
    normal.alpha = 0.0;
  }
  switch (algorithm) {
    case Algorithm::naive_f32:
      return launch_naive_f32(normal, stream);
    case Algorithm::tiled_f32:
      return launch_tiled_f32(normal, stream);
    case Algorithm::wmma_basic:
      return launch_wmma_basic(normal, stream);
    case Algorithm::wmma_shared:
      return launch_wmma_shared(normal, stream);
    case Algorithm::wmma_32x8x16:
      return launch_wmma_32x8x16(normal, stream);
    case Algorithm::wmma_8x32x16:
      return launch_wmma_8x32x16(normal, stream);
    case Algorithm::wmma_16x16x8:
      return launch_wmma_16x16x8(normal, stream);
    case Algorithm::wmma_s8:
      return launch_wmma_s8(normal, stream);
    case Algorithm::wmma_8x8x4:
      return launch_wmma_8x8x4(normal, stream);
  }
  return {StatusCode::invalid_argument, "algorithm is %d but must be 0 to 8", static_cast<int>(algorithm)};
}

}  // namespace tenon::reference
