// From a kernel configuration, a compile-time type, to its row in the kernel list.
#pragma once

#include <string>

#include "gemm/kernel.hpp"
#include "gemm/result.hpp"
#include "tenon/fragment/rounded.hpp"
#include "tenon/gemm/element_type.hpp"
#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/fused_epilogue.hpp"
#include "tenon/gemm/problem.hpp"

namespace tenon {

// "tn": A row-major, B column-major; t is row-major and n column-major, as in BLAS.
inline std::string layout_name(Order a, Order b) {
  return {a == Order::row_major ? 't' : 'n', b == Order::row_major ? 't' : 'n'};
}

// Whether a configuration is SwapAB.
template <class Config, class = void>
inline constexpr bool is_swap_ab = false;
template <class Config>
inline constexpr bool is_swap_ab<Config, std::enable_if_t<Config::swap_ab>> = true;

// All but what the family adds (name prefix, minimum_sm, copy, threads, shared_bytes, function, fill) and the
// list (ptx).
template <class Config>
Kernel describe(const std::string& family) {
  using Block = typename Config::Block;
  Kernel kernel{};
  kernel.swap_ab = is_swap_ab<Config>;
  kernel.type = TypeOf<typename MultipliedType<typename Config::T>::Type>::value;
  kernel.type_b = TypeOf<typename MultipliedType<typename Config::TB>::Type>::value;
  kernel.rounds_f32 = MultipliedType<typename Config::T>::is_rounded;
  static_assert(!is_swap_ab<Config> || std::is_same_v<typename Config::T, typename Config::TB>,
                "swap-AB: A and B are swapped, so they must be of one type");
  // As the caller has them: B^T and A^T are the operands of the transpose of C.
  kernel.a_order = kernel.swap_ab ? flipped(Config::b_order) : Config::a_order;
  kernel.b_order = kernel.swap_ab ? flipped(Config::a_order) : Config::b_order;
  kernel.tile_m = kernel.swap_ab ? Block::n : Block::m;
  kernel.tile_n = kernel.swap_ab ? Block::m : Block::n;
  kernel.tile_k = Block::k;
  kernel.warp_m = kernel.swap_ab ? Config::Warp::n : Config::Warp::m;
  kernel.warp_n = kernel.swap_ab ? Config::Warp::m : Config::Warp::n;
  kernel.accumulate = TypeOf<typename Config::Acc>::value;
  kernel.name = family + "_" + name(kernel.type) + "_" +
                (kernel.type_b == kernel.type ? std::string() : name(kernel.type_b) + std::string("_")) +
                name(kernel.accumulate) + "_" + layout_name(kernel.a_order, kernel.b_order) + "_" +
                std::to_string(kernel.tile_m) + "x" + std::to_string(kernel.tile_n) + "x" +
                std::to_string(kernel.tile_k) + "_s" + std::to_string(Config::stages);
  kernel.stages = Config::stages;
  kernel.cluster = 1;
  return kernel;
}

inline Product product_of(const Gemm& problem) {
  return {problem.m, problem.n, problem.k, problem.a, problem.b, result_of(problem), problem.epilogue.gated};
}

// The operation of a plain product; of fp8 the one with factors in device memory, of f64 the one in f64.
template <class Config>
auto combination_of(const Gemm& problem) {
  const LinearCombination plain{static_cast<float>(problem.alpha), static_cast<float>(problem.beta)};
  if constexpr (std::is_same_v<typename Config::Acc, double>) {
    return LinearCombinationF64{problem.alpha, problem.beta};
  } else if constexpr (std::is_same_v<typename Config::Acc, float> &&
                       Element<typename Config::T>::bits == 8) {
    return ScaledCombination{plain, problem.scale_a, problem.scale_b};
  } else {
    return plain;
  }
}
template <class Config>
using CombinationOf = decltype(combination_of<Config>(Gemm{}));

// The matrix beside D whose map a wgmma kernel has (FusedEpilogue); with a null pointer if there is none.
inline const Matrix& matrix_beside_d(const Gemm& problem) {
  return problem.beta != 0.0F ? problem.c : problem.epilogue.aux;
}

inline FusedEpilogue fused_epilogue_of(const Gemm& problem) {
  const EpilogueOptions& options = problem.epilogue;
  FusedEpilogue fused{};
  fused.alpha = static_cast<float>(problem.alpha), fused.beta = static_cast<float>(problem.beta);
  fused.lower = options.lower, fused.upper = options.upper;
  fused.activation = options.activation;
  fused.c = problem.c.data, fused.ldc = problem.c.ld, fused.c_type = problem.c.type;
  fused.bias = options.bias.data, fused.bias_type = options.bias.type;
  fused.row_bias = options.row_bias.data, fused.row_bias_type = options.row_bias.type;
  fused.row_scale = options.row_scale, fused.column_scale = options.column_scale;
  fused.aux = options.aux.data, fused.ld_aux = options.aux.ld, fused.aux_type = options.aux.type;
  fused.scale_a = problem.scale_a, fused.scale_b = problem.scale_b;
  fused.scale_d = options.scale_d, fused.absmax = options.absmax;
  fused.bias_gradient = options.bias_gradient, fused.gated = options.gated;
  constexpr std::int64_t longest_ld = (std::int64_t{1} << 39) - 8;  // strides of a map: below 2^40 bytes
  const Matrix& matrix = matrix_beside_d(problem);
  fused.matrix_has_map = matrix.data != nullptr && bytes(matrix.type) == 2 &&
                         reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0 && matrix.ld % 8 == 0 &&
                         matrix.ld <= longest_ld;
  return fused;
}

// The operation of a kernel, of type Op: FusedEpilogue or CombinationOf<Config>.
template <class Config, class Op>
Op operation_of(const Gemm& problem) {
  if constexpr (std::is_same_v<Op, FusedEpilogue>) {
    return fused_epilogue_of(problem);
  } else {
    return combination_of<Config>(problem);
  }
}

}  // namespace tenon
