// How far a correct tensor-core product may lie from the exact one: the bound that tests, `tenon gemm
// --check` and users compare with.
//
// One step of a tensor core adds L products to the accumulator (L = 8 on sm_80 to sm_89, 16 on sm_90; longer
// k is a sequence of steps). It aligns all L + 1 terms to the largest, cuts each to F fraction bits below it
// (F = 24; 25 on sm_90), adds exactly, and rounds: toward zero to 24 bits (f32 accumulate), to nearest in f16
// (f16 accumulate). With M the largest magnitude among products and partial sums, one step therefore errs by
// at most
//
//   f32:  (L + 1) 2^-F M + 2^-23 M  <=  11 * 2^-24 M                for both (L, F): 9 + 2 and 8.5 + 2, in
//   2^-24 f16:  (L + 1) 2^-F M + 2^-11 M  <=  (9 * 2^-24 + 2^-11) M + 2^-25   (the last: half the least
//   subnormal f16)
//
// and T = ceil(k / 8) steps, each of which sees the errors of the ones before as part of M, by
//
//   e  <=  ((1 + c)^T - 1) M     with c the factor above.
//
// M is taken from the exact prefix sums in increasing k: the order in which every kernel of this library
// adds. Sources for L, F and the rounding: Xie et al. arXiv:2511.10909, Khattak & Mikaitis arXiv:2512.07004,
// Fasi et al. PeerJ CS 7:e330. A plain loop of FP32 fused multiply-adds is within the same bound (k roundings
// of 2^-24 M).
//
// The epilogue alpha * sum + beta * c makes three f32 roundings and one to the output type.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tenon/gemm.hpp"

namespace tenon {

// What the bound needs to know of one element of A * B, from exact (in practice: FP64) arithmetic.
struct DotProduct {
  double sum = 0.0;
  double largest_prefix = 0.0;   // max over k' of |sum of the first k' products|
  double largest_product = 0.0;  // max |a * b|

  void add(double product) noexcept {
    sum += product;
    largest_prefix = std::max(largest_prefix, std::fabs(sum));
    largest_product = std::max(largest_product, std::fabs(product));
  }
};

// Unit roundoff (round to nearest) and half the least subnormal of an output type.
constexpr double unit_roundoff(Type type) noexcept {
  return type == Type::f16 ? 0x1p-11 : type == Type::bf16 ? 0x1p-8 : 0x1p-24;
}
constexpr double half_least_subnormal(Type type) noexcept {
  return type == Type::f16 ? 0x1p-25 : type == Type::bf16 ? 0x1p-134 : 0x1p-150;
}
constexpr double largest_finite(Type type) noexcept {
  return type == Type::f16 ? 65504.0 : type == Type::bf16 ? 0x1.FEp127 : 0x1.FFFFFEp127;
}

// e above: the error of the accumulator after k products. Infinite if an f16 partial sum may have overflowed.
inline double accumulation_bound(const DotProduct& dot, std::int64_t k, Type accumulate) noexcept {
  const std::int64_t whole_steps = (k + 7) / 8;
  const auto steps = static_cast<double>(whole_steps);
  const double magnitude = std::max(dot.largest_prefix, dot.largest_product);
  const double per_step = accumulate == Type::f16 ? 9 * 0x1p-24 + 0x1p-11 : 11 * 0x1p-24;
  const double growth = std::expm1(steps * std::log1p(per_step));
  const double absolute = accumulate == Type::f16 ? steps * 0x1p-25 * (1 + growth) : 0.0;
  const double bound = growth * magnitude + absolute;
  if (magnitude + bound > largest_finite(accumulate)) return std::numeric_limits<double>::infinity();
  return bound;
}

// The largest |computed - exact| of one element of C = alpha * A * B + beta * C, where exact is
// alpha * dot.sum + beta * c in FP64 and c was read before the product (0 if beta == 0).
inline double error_bound(const DotProduct& dot, std::int64_t k, Type accumulate, Type output,
                          double alpha = 1.0, double beta = 0.0, double c = 0.0) noexcept {
  const double accumulated = alpha == 0.0 ? 0.0 : std::fabs(alpha) * accumulation_bound(dot, k, accumulate);
  const double terms = std::fabs(alpha * dot.sum) + accumulated + std::fabs(beta * c);
  const double epilogue = 3 * 0x1p-24 * terms + 0x1p-149;
  const double exact = std::fabs(alpha * dot.sum + beta * c);
  const double before_output = accumulated + epilogue;
  return before_output + unit_roundoff(output) * (exact + before_output) + half_least_subnormal(output);
}

// The largest error when only k and bounds on the elements are known: |a| <= a_max, |b| <= b_max, C not read.
inline double error_bound(std::int64_t k, Type accumulate, Type output, double a_max, double b_max) noexcept {
  DotProduct dot;
  dot.largest_product = a_max * b_max;
  dot.sum = dot.largest_prefix = static_cast<double>(k) * dot.largest_product;
  return error_bound(dot, k, accumulate, output);
}

// The least magnitude that rounds to infinity: half a unit in the last place above the largest finite value.
constexpr double overflow_threshold(Type type) noexcept {
  return type == Type::f16 ? 65520.0 : type == Type::bf16 ? 0x1.FFp127 : 0x1.FFFFFFp127;
}

// |computed - exact|, where infinity is right if a value within the bound of the exact one rounds to it, and
// NaN is right where the exact value is NaN. Any other value that is not finite is infinitely far off.
inline double error_of(double computed, double exact, double bound, Type output) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(exact)) return std::isnan(computed) ? 0.0 : infinity;
  if (std::isinf(computed) && std::signbit(computed) == std::signbit(exact) &&
      std::fabs(exact) + bound >= overflow_threshold(output)) {
    return 0.0;
  }
  if (!std::isfinite(computed) || !std::isfinite(exact)) return infinity;
  return std::fabs(computed - exact);
}

}  // namespace tenon
