// Whether the elements of C together are as near to the exact product as its number formats make them: the
// criterion that `tenon gemm --check`, the tests and the benchmark share.
//
// The bound of one element (error_bound.hpp) is the worst case and allows much: at k = 4096, fp8 accumulators
// may lose half of a result. The errors of many elements are far smaller, because truncated terms of random
// sign cancel. Two figures show what the bound of an element hides:
//
//   relative error  the Frobenius norm of computed - exact over that of exact, of C, of each row and of each
//                   column. C = 0 has 1, C scaled by 0.9 has 0.1, C with one column of n wrong about
//                   1 / sqrt(n), and that column 1.
//   bias            the mean of (computed - exact) * sign(exact) over the mean of |exact|. C scaled by 0.9
//                   has -0.1, where random errors average to nothing.
//
// The limits follow from the formats, for products of independent random sign. With M the element's largest
// partial sum, F fraction bits, T steps and R from error_bound.hpp:
//   - Each of k products loses up to 2^-F M toward zero. These losses have random sign and variance
//     4^-F M^2 / 3 each: an error of sqrt(k / 3) 2^-F M.
//   - The signs of the products lean toward the sign of their sum s: over products p their sum is
//     s E|p| / E(p^2), which is 2 s / pi for p a product of two N(0, 1). They lose 2^-F M / 2 each: a bias
//     toward zero of 2^-F M s / pi, where s is about sqrt(k).
//   - An f32 accumulator is truncated in each step, by R M / 2 on average: a bias toward zero of T R M / 2.
//   An
//     f16 one is rounded to nearest: a random error of sqrt(T / 3) R M.
//   - Promoted accumulators do this over 128 products, then make k / 128 roundings of 2^-24 M.
// M stands for the smaller partial sums before it too, and every product is taken to lose something: the
// limits are 3 to 20 times what is found. An element's sigma, all of this together, is taken as its standard
// deviation. The norm of a group may exceed the norm of
// its sigmas by 6.5 times the largest sigma (a Gaussian vector does once in 10^9). The mean error may exceed
// the mean bias by 6.5 times its own deviation; independent() says how many errors count there.
//
// Arbitrary operands can make the errors coherent: in a product of constant matrices every step loses the
// same. For those the figures are reported without a limit, and the bound of each element decides.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "host/error_bound.hpp"

namespace tenon {

// The error of an accumulator after k products of random sign, relative to the largest partial sum.
struct TypicalError {
  double random = 0.0;  // standard deviation
  double bias = 0.0;    // magnitude of the mean, toward zero

  double sigma() const noexcept { return random + bias; }
};

inline TypicalError typical_error(const Summation& summation, std::int64_t k) noexcept {
  if (summation.accumulate == Type::s32 || k == 0) return {};
  // Rounded to nearest in each step, once in the kernel and once in the value that stands for the exact one.
  if (summation.operand == Type::f64) return {std::sqrt(2 * static_cast<double>(k) / 3) * 0x1p-53, 0.0};
  constexpr double pi = 3.14159265358979;
  const bool fp8 = is_fp8(summation.operand), f16 = summation.accumulate == Type::f16;
  const double truncation = fp8 ? 0x1p-13 : 0x1p-24;
  const auto products =
      static_cast<double>(summation.promote ? std::min<std::int64_t>(k, promoted_chunk) : k);
  const double steps = std::ceil(products / step_error(summation).products);
  const double to_nearest = f16 ? std::sqrt(steps / 3) * 0x1p-11 : 0.0;
  // fp8 has no rounding beside the truncation of the terms: both are to 13 bits.
  const double toward_zero = fp8 || f16 ? 0.0 : steps * 0x1p-24;
  TypicalError error;
  error.random = std::hypot(std::sqrt(products / 3) * truncation, to_nearest);
  error.bias = std::sqrt(products) / pi * truncation + toward_zero;
  if (summation.promote) {
    const auto whole_chunks = (k + promoted_chunk - 1) / promoted_chunk;
    const auto chunks = static_cast<double>(whole_chunks);
    error.random = std::hypot(error.random, std::sqrt(chunks / 3) * 0x1p-24);
  }
  return error;
}

// Standard deviations by which something random may lie off.
constexpr double allowed_sigmas = 6.5;

// Elements whose errors count as independent in a mean: products of operands of few bits take few values, and
// a short sum of fp8 products very few, which all round alike.
inline double independent(const Summation& summation, std::int64_t k, double count) noexcept {
  return std::min(count, is_fp8(summation.operand) && k < 8 ? 8.0 : 1024.0);
}

// Both limits for products of N(0, 1) operands whose partial sums are not known but are a random walk. The
// root mean square of the largest partial sum is 1.35 times that of the last one; the mean of the largest
// magnitude is 1.57 times that of the last one, and the root mean square of the largest 1.7 times.
inline double relative_error_limit(const Summation& summation, std::int64_t k, Type output) noexcept {
  return 1.35 * typical_error(summation, k).sigma() + unit_roundoff(output);
}
// count: the elements of C.
inline double bias_limit(const Summation& summation, std::int64_t k, Type output, double count) noexcept {
  const TypicalError error = typical_error(summation, k);
  const double sigma = 1.7 * error.sigma() + 1.25 * unit_roundoff(output);  // over the mean magnitude
  return 1.57 * error.bias + allowed_sigmas * sigma / std::sqrt(independent(summation, k, count));
}

enum class ErrorGroup { none, whole, row, column, bias };

// The figure that exceeds its limit; a group `none` if none does.
struct ErrorVerdict {
  ErrorGroup group = ErrorGroup::none;
  std::int64_t index = 0;           // of the row or the column
  double found = 0.0, limit = 0.0;  // of the relative error, or of the bias

  bool is_right() const noexcept { return group == ErrorGroup::none; }
};

// The elements of C = alpha * A * B + beta * C, added one by one.
class ErrorStatistics {
 public:
  // summation, k, output, alpha, beta: as for error_bound().
  ErrorStatistics(std::int64_t m, std::int64_t n, const Summation& summation, std::int64_t k, Type output,
                  double alpha = 1.0, double beta = 0.0)
      : summation_(summation),
        k_(k),
        output_(output),
        typical_(typical_error(summation, alpha == 0.0 ? 0 : k)),
        absolute_(static_cast<double>(k) / step_error(summation).products * step_error(summation).absolute),
        alpha_(std::fabs(alpha)),
        beta_(std::fabs(beta)),
        rows_(n < least_group ? 0 : static_cast<std::size_t>(m)),
        columns_(m < least_group ? 0 : static_cast<std::size_t>(n)) {}

  // dot, c: as for error_bound().
  void add(std::int64_t row, std::int64_t column, double computed, double exact_value, const DotProduct& dot,
           double c = 0.0) noexcept {
    const double exact = saturated(exact_value, output_);
    if (output_ == Type::s32) {
      add(row, column, error_of(computed, exact, 0.0, output_), exact, 0.0, 0.0);
      return;
    }
    if (!std::isfinite(exact)) return;  // the bound of the element decides
    const double accumulator = alpha_ == 0.0 ? 0.0 : alpha_ * largest_magnitude(dot);
    const double terms = accumulator + std::fabs(beta_ * c);
    const double bias = typical_.bias * accumulator;
    const double random = typical_.random * accumulator + alpha_ * absolute_ +
                          epilogue_roundoff(summation_) * terms + unit_roundoff(output_) * std::fabs(exact) +
                          half_least_subnormal(output_);
    if (!std::isfinite(computed) && may_overflow(exact, bias + random, dot)) return;
    add(row, column, computed - exact, exact, bias, random);
  }

  // 0 where C is 0 and right.
  double relative_error() const noexcept { return ratio(std::sqrt(whole_.squares), whole_.norm()); }
  double bias() const noexcept { return ratio(signed_error_, exact_magnitude_); }
  // What the two may be, of products of random sign.
  double relative_error_limit() const noexcept { return ratio(whole_.limit(), whole_.norm()); }
  double bias_limit() const noexcept { return ratio(signed_limit(), exact_magnitude_); }

  // Of products of random sign. A row or a column is named where fewer than half of them are wrong.
  ErrorVerdict verdict() const noexcept {
    ErrorVerdict verdict;
    if (worst_of(columns_, ErrorGroup::column, &verdict) || worst_of(rows_, ErrorGroup::row, &verdict))
      return verdict;
    if (!whole_.is_right() || !verdict.is_right())
      return {ErrorGroup::whole, 0, relative_error(), relative_error_limit()};
    if (!(std::fabs(signed_error_) <= signed_limit())) return {ErrorGroup::bias, 0, bias(), bias_limit()};
    return {};
  }

 private:
  // Smaller rows and columns say little that the element's own bound does not.
  static constexpr std::int64_t least_group = 16;

  struct Group {
    double squares = 0.0, exact_squares = 0.0, sigma_squares = 0.0, largest_sigma = 0.0;

    double norm() const noexcept { return std::sqrt(exact_squares); }
    double limit() const noexcept { return std::sqrt(sigma_squares) + allowed_sigmas * largest_sigma; }
    bool is_right() const noexcept { return std::sqrt(squares) <= limit(); }  // NaN is wrong
    void add(double error, double exact, double sigma) noexcept {
      squares += error * error;
      exact_squares += exact * exact;
      sigma_squares += sigma * sigma;
      largest_sigma = std::max(largest_sigma, sigma);
    }
  };

  static double ratio(double x, double y) noexcept { return x == 0.0 ? 0.0 : x / y; }

  // Whether an infinity is right: the result or the accumulator overflows, as near as sigma tells.
  bool may_overflow(double exact, double sigma, const DotProduct& dot) const noexcept {
    return std::fabs(exact) + allowed_sigmas * sigma >= overflow_threshold(output_) ||
           (1 + allowed_sigmas * typical_.sigma()) * largest_magnitude(dot) >
               largest_finite(summation_.accumulate);
  }

  void add(std::int64_t row, std::int64_t column, double error, double exact, double bias,
           double random) noexcept {
    const double sigma = bias + random;
    whole_.add(error, exact, sigma);
    if (!rows_.empty()) rows_[static_cast<std::size_t>(row)].add(error, exact, sigma);
    if (!columns_.empty()) columns_[static_cast<std::size_t>(column)].add(error, exact, sigma);
    ++count_;
    signed_error_ += exact < 0.0 ? -error : exact > 0.0 ? error : 0.0;
    exact_magnitude_ += std::fabs(exact);
    bias_sum_ += bias;
  }

  double signed_limit() const noexcept {
    if (count_ == 0.0) return 0.0;
    return bias_sum_ +
           allowed_sigmas * std::sqrt(whole_.sigma_squares * count_ / independent(summation_, k_, count_));
  }

  // Sets *verdict to the worst wrong group, if there is one. Whether it tells more than the whole.
  static bool worst_of(const std::vector<Group>& groups, ErrorGroup kind, ErrorVerdict* verdict) noexcept {
    std::size_t wrong = 0;
    double worst = 0.0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Group& group = groups[i];
      if (group.is_right()) continue;
      ++wrong;
      const double found = ratio(std::sqrt(group.squares), group.norm());
      if (wrong > 1 && !(found > worst)) continue;
      worst = found;
      *verdict = {kind, static_cast<std::int64_t>(i), found, ratio(group.limit(), group.norm())};
    }
    return wrong > 0 && 2 * wrong < groups.size();
  }

  Summation summation_;
  std::int64_t k_;
  Type output_;
  TypicalError typical_;
  double absolute_, alpha_, beta_;
  Group whole_;
  std::vector<Group> rows_, columns_;
  double count_ = 0.0, signed_error_ = 0.0, exact_magnitude_ = 0.0, bias_sum_ = 0.0;
};

}  // namespace tenon
