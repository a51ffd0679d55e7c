#include "emulator/numerics/dot_product.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "emulator/numerics/exact_sum.hpp"

namespace tenon::emulator::numerics {
namespace {

// Exponents that stand for numbers that are not finite, far enough from all others that the sum of two tells
// the kinds apart: a product is special if its exponent is above `special_from`.
constexpr int exponent_of_zero = -4096, exponent_of_special = 16384;
constexpr int special_from = 2048;

constexpr int factor_fraction = 10;  // fraction bits of a factor's significand
// Fraction bits of terms before truncation: at least the largest `fraction` of any model.
constexpr int held_fraction = 25;

// The accumulator as a term: a significand with held_fraction bits below the point.
struct Term {
  std::int32_t significand;
  std::int32_t exponent;
};

template <int exponent_bits, int fraction_bits>
Term take_apart(std::uint32_t pattern) {
  constexpr std::uint32_t top = (1U << exponent_bits) - 1, fraction_mask = (1U << fraction_bits) - 1;
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t exponent = (pattern >> fraction_bits) & top;
  const std::uint32_t fraction = pattern & fraction_mask;
  const bool negative = (pattern >> (exponent_bits + fraction_bits)) != 0;
  if (exponent == top) {  // infinity: +-1; NaN: 0
    return {fraction != 0 ? 0 : negative ? -1 : 1, exponent_of_special};
  }
  if (exponent == 0 && fraction == 0) return {0, exponent_of_zero};
  const auto magnitude = static_cast<std::int32_t>(exponent == 0 ? fraction : fraction | (fraction_mask + 1));
  return {negative ? -magnitude : magnitude, static_cast<std::int32_t>(exponent == 0 ? 1 : exponent) - bias};
}

Term accumulator(bool half, std::uint32_t pattern) {
  Term term = half ? take_apart<5, 10>(pattern & 0xffff) : take_apart<8, 23>(pattern);
  if (term.exponent < special_from) term.significand *= 1 << (held_fraction - (half ? 10 : 23));
  return term;
}

// A term, truncated toward zero after `shift` more bits.
inline std::int32_t truncated(std::int32_t significand, int shift) {
  const auto magnitude =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(std::abs(significand)) >> std::min(shift, 31));
  return significand < 0 ? -magnitude : magnitude;
}

// A sum with an infinity or a NaN among its terms.
std::uint32_t special_sum(const Format& format, const std::int32_t* a, const std::int32_t* a_exponent,
                          const std::int32_t* b, const std::int32_t* b_exponent, int count, Term c) {
  bool plus = false, minus = false;
  const auto note = [&](std::int64_t sign) { (sign < 0 ? minus : plus) = true; };
  const auto nan = static_cast<std::uint32_t>(format.nan());
  for (int i = 0; i < count; ++i) {
    const bool special_a = a_exponent[i] > special_from, special_b = b_exponent[i] > special_from;
    if (!special_a && !special_b) continue;
    const std::int64_t product = std::int64_t{a[i]} * b[i];
    if (product == 0) return nan;  // a NaN's significand is 0; also infinity * 0
    note(product);
  }
  if (c.exponent > special_from) {
    if (c.significand == 0) return nan;
    note(c.significand);
  }
  if (plus && minus) return nan;
  return static_cast<std::uint32_t>(format.infinity() | (minus ? format.sign_bit() : 0));
}

constexpr Format f32_of_13_bits{8, 13, 10};

// A result's pattern, a zero without its sign.
std::uint32_t positive_if_zero(std::uint64_t pattern, const Format& format) {
  return pattern == format.sign_bit() ? 0 : static_cast<std::uint32_t>(pattern);
}

// sum * 2^exponent in the result's form. A zero is +0, whatever the terms, also where a negative sum rounds
// to it (f16, tf32 into f32: measured on an H200; assumed for the others).
std::uint32_t result_of(Arithmetic::Result form, std::int64_t sum, int exponent) {
  if (sum == 0) return 0;
  Number number;
  number.kind = Number::Kind::finite;
  number.negative = sum < 0;
  number.significand = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  number.exponent = exponent;
  if (form == Arithmetic::Result::f16_nearest) return positive_if_zero(encode(f16, number), f16);
  const int high = highest_bit(number.significand), leading = exponent + high;
  const std::uint32_t sign = number.negative ? 0x80000000 : 0;
  if (leading > 127)
    return sign | 0x7f800000;  // the truncation comes first, but what it removes never matters
  if (form == Arithmetic::Result::f32_cut_to_13_bits) {
    return positive_if_zero(encode(f32_of_13_bits, number, Rounding::to_zero), f32);
  }
  if (leading < -126) return positive_if_zero(encode(f32, number, Rounding::to_zero), f32);
  const auto fraction = static_cast<std::uint32_t>((number.significand << (63 - high)) >> 40) & 0x7fffff;
  return sign | (static_cast<std::uint32_t>(leading + 127) << 23) | fraction;
}

// Eight terms at a time; the compiler splits them where the machine has no such vectors.
using Eight [[gnu::vector_size(32)]] = std::int32_t;

template <int count>
[[gnu::always_inline]] inline std::uint32_t step(const Arithmetic& arithmetic, const std::int32_t* a,
                                                 const std::int32_t* a_exponent, const std::int32_t* b,
                                                 const std::int32_t* b_exponent, std::uint32_t c) {
  const bool half = arithmetic.result == Arithmetic::Result::f16_nearest;
  const Term term = accumulator(half, c);
  constexpr std::size_t parts = (count + 7) / 8, bytes = std::min(count, 8) * sizeof(std::int32_t);
  Eight exponents[parts];
  Eight most = Eight{} + term.exponent;
  for (std::size_t part = 0; part < parts; ++part) {
    Eight x = most, y{};  // elements beyond `bytes` change nothing
    std::memcpy(&x, a_exponent + part * 8, bytes);
    std::memcpy(&y, b_exponent + part * 8, bytes);
    exponents[part] = x + y;
    const Eight is_larger = exponents[part] > most;
    most = (exponents[part] & is_larger) | (most & ~is_larger);
  }
  int largest = most[0];
  for (int i = 1; i < 8; ++i) largest = std::max<int>(largest, most[i]);
  if (largest > special_from) {
    return special_sum(half ? f16 : f32, a, a_exponent, b, b_exponent, count, term);
  }
  largest = std::max(largest, arithmetic.minimum_exponent);
  const int base = largest + held_fraction - arithmetic.fraction;
  Eight sums{};  // of up to four terms below 2^27
  for (std::size_t part = 0; part < parts; ++part) {
    Eight x{}, y{};
    std::memcpy(&x, a + part * 8, bytes);
    std::memcpy(&y, b + part * 8, bytes);
    // Each product is below 2^22 (factors of 11 bits), so below 2^27 as a term. Truncates toward zero as
    // truncated() does.
    const Eight product = x * y * (1 << (held_fraction - 2 * factor_fraction)), negative = product < 0;
    Eight shift = base - exponents[part];
    for (int i = 0; i < 8; ++i) shift[i] = std::min<int>(shift[i], 31);  // clang 9 has no ?: of vectors
    sums += (((product ^ negative) - negative) >> shift ^ negative) - negative;
  }
  std::int64_t sum = truncated(term.significand, base - term.exponent);
  for (int i = 0; i < 8; ++i) sum += sums[i];
  // Removes the scale of the truncation: the sum's unit is 2^(largest - fraction).
  return result_of(arithmetic.result, sum, largest - arithmetic.fraction);
}

// The steps of a sum in order. Each length is compiled for itself, and all of them twice.
template <int group>
[[gnu::always_inline]] inline std::uint32_t steps_of(const Arithmetic& arithmetic, const std::int32_t* a,
                                                     const std::int32_t* a_exponent, const std::int32_t* b,
                                                     const std::int32_t* b_exponent, int count,
                                                     std::uint32_t c) {
  for (int first = 0; first < count; first += group)
    c = step<group>(arithmetic, a + first, a_exponent + first, b + first, b_exponent + first, c);
  return c;
}
[[gnu::always_inline]] inline std::uint32_t steps(const Arithmetic& arithmetic, const std::int32_t* a,
                                                  const std::int32_t* a_exponent, const std::int32_t* b,
                                                  const std::int32_t* b_exponent, int group, int count,
                                                  std::uint32_t c) {
  switch (group) {
    case 4:
      return steps_of<4>(arithmetic, a, a_exponent, b, b_exponent, count, c);
    case 8:
      return steps_of<8>(arithmetic, a, a_exponent, b, b_exponent, count, c);
    case 16:
      return steps_of<16>(arithmetic, a, a_exponent, b, b_exponent, count, c);
    default:
      return steps_of<32>(arithmetic, a, a_exponent, b, b_exponent, count, c);
  }
}

#ifdef __x86_64__
// Where the machine has the instruction, one shifts eight terms.
[[gnu::target("avx2")]] std::uint32_t steps_by_avx2(const Arithmetic& arithmetic, const std::int32_t* a,
                                                    const std::int32_t* a_exponent, const std::int32_t* b,
                                                    const std::int32_t* b_exponent, int group, int count,
                                                    std::uint32_t c) {
  return steps(arithmetic, a, a_exponent, b, b_exponent, group, count, c);
}
#endif
std::uint32_t add_in_steps(const Arithmetic& arithmetic, const std::int32_t* a,
                           const std::int32_t* a_exponent, const std::int32_t* b,
                           const std::int32_t* b_exponent, int group, int count, std::uint32_t c) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") != 0)
    return steps_by_avx2(arithmetic, a, a_exponent, b, b_exponent, group, count, c);
#endif
  return steps(arithmetic, a, a_exponent, b, b_exponent, group, count, c);
}

// The sum, rounded once.
std::uint32_t exact(const Arithmetic& arithmetic, const std::int32_t* a, const std::int32_t* a_exponent,
                    const std::int32_t* b, const std::int32_t* b_exponent, int count, std::uint32_t c) {
  const bool half = arithmetic.result == Arithmetic::Result::f16_nearest;
  const Format& format = half ? f16 : f32;
  const Term term = accumulator(half, c);
  bool special = term.exponent > special_from;
  for (int i = 0; i < count; ++i) special = special || a_exponent[i] + b_exponent[i] > special_from;
  if (special) return special_sum(format, a, a_exponent, b, b_exponent, count, term);
  ExactSum<f32_sum_words> sum(f32_sum_lowest);
  const auto add = [&](std::int32_t significand, int exponent) {
    if (significand != 0) {
      sum.add(significand < 0, static_cast<std::uint64_t>(std::abs(significand)), exponent);
    }
  };
  for (int i = 0; i < count; ++i) {
    add(a[i] * b[i], a_exponent[i] + b_exponent[i] - 2 * factor_fraction);
  }
  add(term.significand, term.exponent - held_fraction);
  return static_cast<std::uint32_t>(sum.round(format, Rounding::nearest_even));
}

// An fp8 factor as f16: e4m3's subnormals, down to 2^-9, are normal in f16, so they are aligned by their own
// binade. Measured on an H200, where the large numbers of e5m2 show it. e5m2's subnormals are f16's too.
void as_f16(std::int32_t& significand, std::int32_t& exponent) {
  if (significand == 0 || exponent > special_from) return;
  while (std::abs(significand) < 1 << factor_fraction && exponent > f16.minimum_exponent()) {
    significand *= 2;
    --exponent;
  }
}

std::uint32_t fp8_by_halves(const Arithmetic& arithmetic, const std::int32_t* a,
                            const std::int32_t* a_exponent, const std::int32_t* b,
                            const std::int32_t* b_exponent, int count, std::uint32_t c) {
  std::uint32_t sum = 0;
  for (int half = 0; half < 2; ++half) {
    std::int32_t part[4][32];
    for (int i = 0; i < count / 2; ++i) {
      const int from = (i / 2) * 4 + half * 2 + i % 2;
      part[0][i] = a[from], part[1][i] = a_exponent[from];
      part[2][i] = b[from], part[3][i] = b_exponent[from];
      as_f16(part[0][i], part[1][i]);
      as_f16(part[2][i], part[3][i]);
    }
    sum = add_in_steps(arithmetic, part[0], part[1], part[2], part[3], count / 2, count / 2, sum);
  }
  const Format& format = arithmetic.result == Arithmetic::Result::f16_nearest ? f16 : f32;
  const std::uint64_t one = from_float(format, 1);
  return static_cast<std::uint32_t>(fused_multiply_add(format, sum, one, c, Rounding::nearest_even));
}

// A fused multiply-add of the f64 tensor cores. NaNs keep their payloads, made quiet: b's before c's before
// a's. Measured on an H200, except the sign of a NaN made from numbers, which is that of fma.f64.
std::uint64_t chained_f64(Rounding rounding, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  constexpr std::uint64_t quiet = std::uint64_t{1} << 51, nan_of_numbers = 0xfff8000000000000;
  std::uint64_t sum = 0;
  if (rounding == Rounding::nearest_even) {
    sum = bits_of(std::fma(double_of(a), double_of(b), double_of(c)));
  } else {
    sum = fused_multiply_add(f64, a, b, c, rounding);
  }
  if (!is_nan(f64, sum)) return sum;
  for (std::uint64_t operand : {b, c, a}) {
    if (is_nan(f64, operand)) return operand | quiet;
  }
  return nan_of_numbers;
}

}  // namespace

namespace {

// e4m3 has no infinity, and one NaN of each sign.
Term take_e4m3_apart(std::uint32_t pattern) {
  if ((pattern & 0x7f) == 0x7f) return {0, exponent_of_special};
  if ((pattern & 0x78) != 0x78) return take_apart<4, 3>(pattern);
  const auto magnitude = static_cast<std::int32_t>(8 + (pattern & 7));
  return {(pattern & 0x80) != 0 ? -magnitude : magnitude, 8};
}

template <int fraction_bits, class TakeApart>
void set_factors(Factors& factors, const std::uint32_t* patterns, int count, TakeApart&& take) {
  for (int i = 0; i < count; ++i) {
    const Term term = take(patterns[i]);
    const bool special = term.exponent > special_from;
    factors.significand[i] =
        special ? term.significand : term.significand * (1 << (factor_fraction - fraction_bits));
    factors.exponent[i] = term.exponent;
  }
}

}  // namespace

void Factors::set(const Format& format, const std::uint32_t* patterns, int count) {
  if (format.exponent_bits == 4) return set_factors<3>(*this, patterns, count, take_e4m3_apart);
  if (format.exponent_bits == 5 && format.fraction_bits == 10)
    return set_factors<10>(*this, patterns, count, take_apart<5, 10>);
  if (format.exponent_bits == 5) return set_factors<2>(*this, patterns, count, take_apart<5, 2>);
  if (format.fraction_bits == 7) return set_factors<7>(*this, patterns, count, take_apart<8, 7>);
  set_factors<10>(*this, patterns, count,
                  [](std::uint32_t pattern) { return take_apart<8, 10>(pattern >> tf32.padding_bits); });
}

std::uint32_t dot_product(const Arithmetic& arithmetic, const Factors& a, int a_first, const Factors& b,
                          int b_first, int count, std::uint32_t c) {
  const std::int32_t *sa = a.significand + a_first, *ea = a.exponent + a_first;
  const std::int32_t *sb = b.significand + b_first, *eb = b.exponent + b_first;
  if (arithmetic.exact) return exact(arithmetic, sa, ea, sb, eb, count, c);
  if (arithmetic.fp8_by_halves) return fp8_by_halves(arithmetic, sa, ea, sb, eb, count, c);
  return add_in_steps(arithmetic, sa, ea, sb, eb, arithmetic.group, count, c);
}

std::uint64_t dot_product_f64(Model model, Rounding rounding, const std::uint64_t* a, const std::uint64_t* b,
                              int count, std::uint64_t c) {
  if (model != Model::ieee) {
    for (int i = 0; i < count; ++i) {
      c = chained_f64(rounding, a[i], b[i], c);
    }
    return c;
  }
  using Kind = Number::Kind;
  ExactSum<f64_sum_words> sum(f64_sum_lowest);
  std::uint64_t special = 0;  // the special value of the sum so far; 0: none yet
  const auto note = [&](std::uint64_t pattern) {
    special = special == 0 || special == pattern ? pattern : f64.nan();
  };
  for (int i = 0; i < count; ++i) {
    const Number x = decode(f64, a[i]), y = decode(f64, b[i]);
    const bool finite_x = x.kind == Kind::zero || x.kind == Kind::finite;
    const bool finite_y = y.kind == Kind::zero || y.kind == Kind::finite;
    if (!finite_x || !finite_y) {
      note(fused_multiply_add(f64, a[i], b[i], 0, rounding));
    } else if (x.kind == Kind::finite && y.kind == Kind::finite) {
      sum.add_product(x, y);
    }
  }
  const Number z = decode(f64, c);
  if (z.kind == Kind::infinity || z.kind == Kind::nan) note(z.kind == Kind::nan ? f64.nan() : c);
  if (z.kind == Kind::finite) sum.add(z.negative, z.significand, z.exponent);
  return special != 0 ? special : sum.round(f64, rounding);
}

std::uint32_t integer_result(std::int64_t sum, std::uint32_t c, bool saturate) {
  constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int32_t>::max();
  sum += static_cast<std::int32_t>(c);
  return static_cast<std::uint32_t>(saturate ? std::clamp(sum, low, high) : sum);
}

}  // namespace tenon::emulator::numerics
