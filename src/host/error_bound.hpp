// How far a correct tensor-core product may lie from the exact one: the bound of each element that the tests,
// `tenon gemm --check` and users compare with. error_statistics.hpp judges the elements of C together.
//
// One step of a tensor core adds L products to the accumulator; a longer k is a sequence of steps. The step
// aligns all L + 1 terms to the largest, truncates each to F fraction bits below it, adds exactly, and
// rounds. With M the largest magnitude among products and partial sums, a step therefore errs by at most (L +
// 1) 2^-F M for the truncation and R M for the rounding:
//
//   operands    accumulators  on            L   F   rounding                      R       c = (L + 1) 2^-F +
//   R f16, bf16   f32           sm_80, sm_90  8   24  toward zero to 24 bits        2^-23   11    * 2^-24
//               f32           wgmma         16  25  the same                      2^-23   10.5  * 2^-24
//   f16         f16           all           8   24  to nearest in f16             2^-11   9 * 2^-24 + 2^-11
//   tf32        f32           wgmma         8   25  toward zero to 24 bits        2^-23   6.5   * 2^-24
//   tf32        f32           sm_80         4   24  the same                      2^-23   7     * 2^-24
//   fp8         f32           wgmma         32  13  toward zero to 14 bits        2^-13   34    * 2^-13
//   fp8         f32           sm_89         16  13  the same                      2^-13   18    * 2^-13
//   s8          s32           all               exact modulo 2^32                         0
//   f64         f64           all           1   -   to nearest (a fused multiply-add)     2^-53
//
// (F and the rounding of fp8 are right: the accumulator keeps 13 bits below its leading one at every step.)
// Each step sees the errors of the earlier steps as part of M. Together, T steps err by
//
//   e  <=  ((1 + c)^T - 1) M.
//
// M is taken from the exact prefix sums in increasing k: the order in which every kernel of this library
// adds. Where split-K divides k among CTAs, their partial sums are differences of two prefixes, at most 2 M,
// and are added in f32. For f16 and bf16, T = ceil(k / 8) covers that: wgmma takes half as many steps. For
// tf32 (T = ceil(k / 8)) the factor is 14 * 2^-24: two steps of sm_80, or twice one of wgmma; B CTAs use 2 -
// 1 / B of that, and the rest is more than the B - 1 additions need. For fp8 (T = ceil(k / 32), two steps of
// sm_89) M itself is doubled.
//
// Promoted accumulators (Gemm::promote) hold the tensor core's result over 128 of k, starting from zero, and
// are added in f32, to nearest. A chunk errs by four steps with the M of its own partial sums, which
// DotProduct adds up over the chunks; the ceil(k / 128) additions err by 2^-24 of the prefix.
//
// This is the worst case: every term of every step truncated by all it can lose, in the same direction. For
// fp8 that is not promoted it exceeds M itself from k = 2976 on, so that C = 0 would lie within it. The bound
// is therefore never more than half of M: a result that has lost more is not called right, whatever the
// arithmetic permits. That happens to long sums of one sign, which stagnate; promoted accumulators do not.
//
// A product of a subnormal operand is aligned by the exponent of the least normal number. That matters for
// fp8 alone, whose subnormals are not tiny: DotProduct::add() takes a magnitude to align to.
//
// Sources for L, F and the rounding: Xie et al. arXiv:2511.10909, Khattak & Mikaitis arXiv:2512.07004,
// Fasi et al. PeerJ CS 7:e330; for promoted accumulators DeepSeek-V3 arXiv:2412.19437, section 3.3.2. A plain
// loop of FP32 fused multiply-adds is within the bound of f16 (k roundings of 2^-24 M).
//
// f64 adds one product after the other, with one rounding each. Kernels take 8 of k in an order of their own,
// which moves a partial sum by at most 8 products from a prefix. The exact product is not known here: what
// stands for it is accumulated in FP64 too, and errs as much. So each step counts twice.
//
// The epilogue alpha * accumulator + beta * c makes three f32 roundings and one to the output type; the
// factors of fp8 and s8 operands are multiplied into alpha, two more, and sums of s8 products that become
// floats are rounded once more. With C in s32 nothing is rounded, and integers
// wrap around.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tenon/gemm.hpp"

namespace tenon {

// How products are accumulated. A Gemm says it; so does the type of the accumulators alone, for f16 and bf16
// operands, which have one bound, for s8 and for f64.
struct Summation {
  Type operand, accumulate;
  bool promote = false;

  constexpr Summation(Type operand_, Type accumulate_, bool promote_ = false) noexcept
      : operand(operand_), accumulate(accumulate_), promote(promote_) {}
  constexpr Summation(Type accumulate_) noexcept  // NOLINT(google-explicit-constructor): one of three ways
      : Summation(accumulate_ == Type::s32   ? Type::s8
                  : accumulate_ == Type::f64 ? Type::f64
                                             : Type::f16,
                  accumulate_) {}
  constexpr Summation(const Gemm& problem) noexcept  // NOLINT(google-explicit-constructor): to say it
      : Summation(problem.a.type, problem.accumulate, problem.promote) {}
};

// Products that the tensor core adds up before a promoted accumulator is added to the f32 one.
constexpr int promoted_chunk = 128;

// What the bound needs to know of one element of A * B, from exact (in practice: FP64) arithmetic.
struct DotProduct {
  double sum = 0.0;
  double largest_prefix = 0.0;   // max over k' of |sum of the first k' products|
  double largest_product = 0.0;  // max |a * b|
  // Over chunks of promoted_chunk products, the sum of the largest magnitudes in each: of a product, or of a
  // prefix sum of the chunk. 0 where it is not known: largest_prefix then stands for it.
  double chunk_magnitudes = 0.0;

  void add(double product) noexcept { add(product, std::fabs(product)); }
  // aligned: >= |product|, for fp8: aligned_magnitude() of its factors.
  void add(double product, double aligned) noexcept {
    if (left_ == 0) {
      left_ = promoted_chunk;
      before_ = sum;
      chunks_before_ = chunk_magnitudes;
      in_chunk_ = 0.0;
    }
    --left_;
    sum += product;
    largest_prefix = std::max(largest_prefix, std::fabs(sum));
    largest_product = std::max(largest_product, aligned);
    const double now = std::max(std::fabs(sum - before_), aligned);
    in_chunk_ = std::max(in_chunk_, now);
    chunk_magnitudes = chunks_before_ + in_chunk_;
  }

 private:
  // The products that the chunk still takes; the sum and chunk_magnitudes before it, and its own magnitude.
  int left_ = 0;
  double before_ = 0.0, chunks_before_ = 0.0, in_chunk_ = 0.0;
};

// The least normal number of fp8; of other types 0.
constexpr double least_normal(Type type) noexcept {
  return type == Type::e4m3 ? 0x1p-6 : type == Type::e5m2 ? 0x1p-14 : 0.0;
}
// The magnitude to which a product is aligned: |a * b|, or more where an operand is a subnormal of fp8.
inline double aligned_magnitude(double a, Type a_type, double b, Type b_type) noexcept {
  if (a == 0.0 || b == 0.0) return 0.0;
  return std::max(std::fabs(a), least_normal(a_type)) * std::max(std::fabs(b), least_normal(b_type));
}

// Unit roundoff (round to nearest) and half the least subnormal of an output type.
constexpr double unit_roundoff(Type type) noexcept {
  return type == Type::f16    ? 0x1p-11
         : type == Type::bf16 ? 0x1p-8
         : type == Type::s32  ? 0.0
         : type == Type::f64  ? 0x1p-53
         : type == Type::e4m3 ? 0x1p-4
         : type == Type::e5m2 ? 0x1p-3
         : type == Type::s8   ? 0.0
                              : 0x1p-24;
}
constexpr double half_least_subnormal(Type type) noexcept {
  return type == Type::f16    ? 0x1p-25
         : type == Type::bf16 ? 0x1p-134
         : type == Type::s32  ? 0.0
         : type == Type::f64  ? 0x1p-1074  // the least number there is: half of it is none
         : type == Type::e4m3 ? 0x1p-10
         : type == Type::e5m2 ? 0x1p-17
         : type == Type::s8   ? 0.5
                              : 0x1p-150;
}
constexpr double largest_finite(Type type) noexcept {
  return type == Type::f16    ? 65504.0
         : type == Type::bf16 ? 0x1.FEp127
         : type == Type::f64  ? std::numeric_limits<double>::max()
         : type == Type::e4m3 ? 448.0
         : type == Type::e5m2 ? 57344.0
         : type == Type::s8   ? 127.0
                              : 0x1.FFFFFEp127;
}

// One step: the products it adds, c above, and what it errs by even where M is tiny (a result below the least
// normal number).
struct StepError {
  int products;
  double relative, absolute;
};
constexpr StepError step_error(const Summation& summation) noexcept {
  if (is_fp8(summation.operand)) return {32, 36 * 0x1p-13, 0x1p-148};
  if (summation.operand == Type::f64) return {1, 2 * 0x1p-53, 0x1p-1074};
  if (summation.operand == Type::tf32) return {8, 14 * 0x1p-24, 0x1p-148};
  if (summation.accumulate == Type::f16) return {8, 9 * 0x1p-24 + 0x1p-11, 0x1p-25};
  return {8, 11 * 0x1p-24, 0x1p-148};
}

// M above.
inline double largest_magnitude(const DotProduct& dot) noexcept {
  return std::max(dot.largest_prefix, dot.largest_product);
}

// The error of the accumulator after k products: e above, at most half of M. Infinite if the accumulator may
// have overflowed; is_finite excludes that, for a result that is known to be finite.
inline double accumulation_bound(const DotProduct& dot, std::int64_t k, const Summation& summation,
                                 bool is_finite = false) noexcept {
  if (summation.accumulate == Type::s32) return 0.0;
  const auto divide_up = [](std::int64_t x, std::int64_t y) { return (x + y - 1) / y; };
  const StepError step = step_error(summation);
  // More than 1 is more than M: limited before it can overflow.
  const auto growth_of = [&step](double steps) {
    return std::min(std::expm1(steps * std::log1p(step.relative)), 1.0);
  };
  const double prefix = is_fp8(summation.operand) ? 2 * dot.largest_prefix : dot.largest_prefix;
  const double magnitude = summation.operand == Type::f64 ? prefix + 8 * dot.largest_product
                                                          : std::max(prefix, dot.largest_product);
  double relative = 0.0, absolute = 0.0;
  if (summation.promote) {
    const auto chunks = static_cast<double>(divide_up(k, promoted_chunk));
    const int steps = promoted_chunk / step.products;
    const double magnitudes = dot.chunk_magnitudes > 0.0 ? dot.chunk_magnitudes : chunks * magnitude;
    const double of_chunks = growth_of(steps) * magnitudes;
    relative = of_chunks + chunks * 0x1p-24 * (dot.largest_prefix + of_chunks);
  } else {
    const auto steps = static_cast<double>(divide_up(k, step.products));
    const double growth = growth_of(steps);
    relative = growth * magnitude;
    absolute = steps * step.absolute * (1 + growth);
  }
  const double bound = std::min(relative, largest_magnitude(dot) / 2) + absolute;
  if (!is_finite && magnitude + bound > largest_finite(summation.accumulate))
    return std::numeric_limits<double>::infinity();
  return bound;
}

// The f32 (of f64 f64) roundings of the epilogue, relative to the magnitude of its terms. Of f64 also those
// of the value that stands for the exact one.
constexpr double epilogue_roundoff(const Summation& summation) noexcept {
  if (summation.operand == Type::f64) return 6 * 0x1p-53;
  return (is_fp8(summation.operand) ? 5 : summation.accumulate == Type::s32 ? 6 : 3) * 0x1p-24;
}

// The largest |computed - exact| of one element of C = alpha * A * B + beta * C, where exact is
// alpha * dot.sum + beta * c in FP64 and c was read before the product (0 if beta == 0). alpha: times the
// factors of fp8 operands, where there are any. With C in s32, where exact may lie beyond 32 bits, 0 is the
// bound of error_of(). is_finite: as above.
inline double error_bound(const DotProduct& dot, std::int64_t k, const Summation& summation, Type output,
                          double alpha = 1.0, double beta = 0.0, double c = 0.0,
                          bool is_finite = false) noexcept {
  if (output == Type::s32) return 0.0;
  const double accumulated =
      alpha == 0.0 ? 0.0 : std::fabs(alpha) * accumulation_bound(dot, k, summation, is_finite);
  const double terms = std::fabs(alpha * dot.sum) + accumulated + std::fabs(beta * c);
  const double least = summation.operand == Type::f64 ? 0x1p-1074 : 0x1p-149;
  const double epilogue = epilogue_roundoff(summation) * terms + least;
  const double exact = std::fabs(alpha * dot.sum + beta * c);
  const double before_output = accumulated + epilogue;
  return before_output + unit_roundoff(output) * (exact + before_output) + half_least_subnormal(output);
}

// The largest error when only k and bounds on the elements are known: |a| <= a_max, |b| <= b_max, C not read.
inline double error_bound(std::int64_t k, const Summation& summation, Type output, double a_max,
                          double b_max) noexcept {
  DotProduct dot;
  dot.largest_product = a_max * b_max;
  dot.sum = dot.largest_prefix = static_cast<double>(k) * dot.largest_product;
  return error_bound(dot, k, summation, output);
}

// The least magnitude that rounds beyond the largest finite value: half a unit in the last place above it.
// (Of s8 and s32 the least positive value.)
constexpr double overflow_threshold(Type type) noexcept {
  switch (type) {
    case Type::f16:
      return 65520.0;
    case Type::bf16:
      return 0x1.FFp127;
    case Type::tf32:
      return 0x1.FFFp127;
    case Type::e4m3:
      return 464.0;
    case Type::e5m2:
      return 61440.0;
    case Type::s8:
      return 127.5;
    case Type::s32:
      return 2147483647.5;
    case Type::f64:  // what rounds to infinity is no number of FP64
      return std::numeric_limits<double>::max();
    default:
      return 0x1.FFFFFFp127;
  }
}

// What an exact value becomes in a type of 8 bits, before it is rounded: such outputs saturate. In s8 a NaN
// becomes 0.
inline double saturated(double exact, Type output) noexcept {
  if (output == Type::s8) return std::isnan(exact) ? 0.0 : std::clamp(exact, -128.0, 127.0);
  if (!is_fp8(output) || std::isnan(exact)) return exact;
  return std::clamp(exact, -largest_finite(output), largest_finite(output));
}

// |computed - exact|, where infinity is right if a value within the bound of the exact one rounds to it, and
// NaN is right where the exact value is NaN. Any other value that is not finite is infinitely far off. s32 is
// compared modulo 2^32: exact may lie outside, below 2^53 in magnitude.
inline double error_of(double computed, double exact_value, double bound, Type output) noexcept {
  const double exact = saturated(exact_value, output);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (output == Type::s32) return std::fabs(std::remainder(computed - exact, 0x1p32));
  if (std::isnan(exact)) return std::isnan(computed) ? 0.0 : infinity;
  if (std::isinf(computed) && std::signbit(computed) == std::signbit(exact) &&
      std::fabs(exact) + bound >= overflow_threshold(output)) {
    return 0.0;
  }
  if (!std::isfinite(computed) || !std::isfinite(exact)) return infinity;
  return std::fabs(computed - exact);
}

}  // namespace tenon
