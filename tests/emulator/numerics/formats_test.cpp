// Formats against two other computations: the definition of a binary format in double arithmetic, and a
// search for neighbours among all values of a format.
#include "emulator/numerics/formats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <random>
#include <vector>

#include "emulator/numerics/exact_sum.hpp"

namespace tenon::emulator::numerics {
namespace {

constexpr Rounding all_roundings[] = {Rounding::nearest_even, Rounding::to_zero, Rounding::down, Rounding::up,
                                      Rounding::nearest_away};

// A pattern's value by the definition: (-1)^s * 2^(e - bias) * 1.f, all in doubles. NaN patterns give NaN.
double value_of(const Format& format, std::uint32_t pattern) {
  pattern >>= format.padding_bits;
  const int fraction_bits = format.fraction_bits;
  const int fraction = static_cast<int>(pattern % (1U << fraction_bits));
  const int exponent = static_cast<int>(pattern >> fraction_bits) % (1 << format.exponent_bits);
  const double sign = (pattern >> (fraction_bits + format.exponent_bits)) != 0 ? -1 : 1;
  const int top = (1 << format.exponent_bits) - 1, bias = top / 2;
  if (exponent == top && format.has_infinity) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == top && fraction == (1 << fraction_bits) - 1) return NAN;
  const double f = fraction / std::pow(2.0, fraction_bits);
  return exponent == 0 ? sign * std::pow(2.0, 1 - bias) * f : sign * std::pow(2.0, exponent - bias) * (1 + f);
}

// All finite values that are not negative, in order; their patterns are 0, 1, 2, ...
std::vector<double> values(const Format& format) {
  std::vector<double> all;
  for (std::uint32_t pattern = 0; std::isfinite(value_of(format, pattern << format.padding_bits));
       ++pattern) {
    all.push_back(value_of(format, pattern << format.padding_bits));
  }
  return all;
}

// Rounds by a search for the neighbours of |x|. Beyond the largest value, the next one would be at the same
// distance as the one below, where the exponent range ends: IEEE 754's rule for overflow.
std::uint64_t round_by_search(const Format& format, const std::vector<double>& all, double x,
                              Rounding rounding) {
  const bool negative = std::signbit(x);
  const double magnitude = std::fabs(x);
  const std::uint64_t sign = negative ? format.sign_bit() : 0;
  const std::size_t above = static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), magnitude) -
                                                     all.begin());  // first one that is >= |x|
  const auto pattern = [&](std::size_t position) {
    if (position < all.size()) return sign | (position << format.padding_bits);
    return sign | (format.has_infinity ? format.infinity() : format.nan());
  };
  const double next = all.back() + (all.back() - all[all.size() - 2]);
  if (above < all.size() && all[above] == magnitude) return pattern(above);
  const std::size_t below = above - 1;
  const double high = above < all.size() ? all[above] : next;
  const double middle = (all[below] + high) / 2;
  switch (rounding) {
    case Rounding::to_zero:
      return pattern(below);
    case Rounding::down:
      return pattern(negative ? above : below);
    case Rounding::up:
      return pattern(negative ? below : above);
    case Rounding::nearest_away:
      return pattern(magnitude >= middle ? above : below);
    case Rounding::nearest_even:
      break;
  }
  if (magnitude == middle) return pattern(below % 2 == 0 ? below : above);
  return pattern(magnitude > middle ? above : below);
}

struct Named {
  const char* name;
  const Format* format;
};
class SmallFormat : public ::testing::TestWithParam<Named> {
 protected:
  const Format& format() const { return *GetParam().format; }
  std::uint32_t count() const { return 1U << (format().bits() - format().padding_bits); }
};

TEST_P(SmallFormat, EveryPatternHasTheValueOfItsDefinition) {
  for (std::uint32_t i = 0; i < count(); ++i) {
    const std::uint32_t pattern = i << format().padding_bits;
    const double value = value_of(format(), pattern);
    const double found = to_double(format(), pattern);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(found)) << pattern;
      ASSERT_TRUE(is_nan(format(), pattern)) << pattern;
    } else {
      ASSERT_EQ(bits_of(found), bits_of(value)) << pattern;
      ASSERT_EQ(bits_of(to_float(format(), pattern)), bits_of(static_cast<float>(value))) << pattern;
    }
  }
}

TEST_P(SmallFormat, EveryPatternRoundTripsAndEveryNanBecomesTheCanonicalOne) {
  for (std::uint32_t i = 0; i < count(); ++i) {
    const std::uint64_t pattern = std::uint64_t{i} << format().padding_bits;
    const std::uint64_t back = encode(format(), decode(format(), pattern));
    ASSERT_EQ(back, is_nan(format(), pattern) ? format().nan() : pattern);
  }
}

TEST_P(SmallFormat, RoundingMatchesASearchForNeighbours) {
  const std::vector<double> all = values(format());
  std::vector<double> samples;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {  // on, between, and just off the middle
    const double middle = (all[i] + all[i + 1]) / 2;
    for (double x : {all[i], middle, std::nextafter(middle, 0), std::nextafter(middle, INFINITY)}) {
      samples.push_back(x);
    }
  }
  const double last = all.back(), step = last - all[all.size() - 2];
  for (double x :
       {last + step / 4, last + step / 2, std::nextafter(last + step / 2, 0), last + step, 2 * last}) {
    samples.push_back(x);
  }
  if (samples.size() > 700000) {  // tf32: a part is enough
    std::mt19937_64 random(3);
    std::shuffle(samples.begin(), samples.end() - 5, random);
    samples.erase(samples.begin(), samples.end() - 300000);
  }
  for (double x : samples) {
    for (double signed_x : {x, -x}) {
      for (Rounding rounding : all_roundings) {
        ASSERT_EQ(from_double(format(), signed_x, rounding),
                  round_by_search(format(), all, signed_x, rounding))
            << signed_x << " rounding " << static_cast<int>(rounding);
      }
    }
  }
}

TEST_P(SmallFormat, SaturationNeverLeavesTheFiniteValues) {
  const std::uint64_t largest = format().largest();
  for (double x : {HUGE_VAL, 1e300, to_double(format(), largest) * 1.5}) {
    EXPECT_EQ(convert(format(), f64, bits_of(x), Rounding::nearest_even, Overflow::saturate), largest);
    EXPECT_EQ(convert(format(), f64, bits_of(-x), Rounding::nearest_even, Overflow::saturate),
              largest | format().sign_bit());
  }
  EXPECT_EQ(convert(format(), f64, bits_of(std::nan("")), Rounding::nearest_even, Overflow::saturate),
            format().nan());
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFormat,
                         ::testing::Values(Named{"f16", &f16}, Named{"bf16", &bf16}, Named{"tf32", &tf32},
                                           Named{"e4m3", &e4m3}, Named{"e5m2", &e5m2}),
                         [](const auto& info) { return info.param.name; });

TEST(Formats, LargestAndNanAreThoseOfThePtxIsa) {
  EXPECT_EQ(f16.largest(), 0x7bffU);
  EXPECT_EQ(bf16.largest(), 0x7f7fU);
  EXPECT_EQ(tf32.largest(), 0x7f7fe000U);
  EXPECT_EQ(e4m3.largest(), 0x7eU);  // 448
  EXPECT_EQ(e5m2.largest(), 0x7bU);  // 57344
  EXPECT_EQ(to_double(e4m3, 0x7e), 448);
  EXPECT_EQ(to_double(e5m2, 0x7b), 57344);
  EXPECT_EQ(f16.nan(), 0x7fffU);
  EXPECT_EQ(f32.nan(), 0x7fffffffU);
  EXPECT_EQ(e4m3.nan(), 0x7fU);
}

class Modes : public ::testing::Test {
 protected:
  struct Mode {
    Rounding rounding;
    int host;
  };
  static constexpr Mode modes[] = {{Rounding::nearest_even, FE_TONEAREST},
                                   {Rounding::to_zero, FE_TOWARDZERO},
                                   {Rounding::down, FE_DOWNWARD},
                                   {Rounding::up, FE_UPWARD}};
  void TearDown() override { std::fesetround(FE_TONEAREST); }
  std::mt19937_64 random{7};
};

TEST_F(Modes, NarrowingDoublesMatchesTheHost) {
  for (int i = 0; i < 200000; ++i) {
    std::uint64_t pattern = random();
    if (i % 2 == 0) {  // into the range of floats, subnormal ones too
      pattern = (pattern & 0x800fffffffffffff) | ((840 + pattern % 320) << 52);
    }
    if (i % 5 == 0) pattern &= ~std::uint64_t{0xfffffff};  // ties
    const double x = double_of(pattern);
    if (std::isnan(x)) continue;
    for (const Mode& mode : modes) {
      std::fesetround(mode.host);
      volatile double in = x;
      volatile float out = static_cast<float>(in);
      std::fesetround(FE_TONEAREST);
      const float expected = out;
      ASSERT_EQ(from_double(f32, x, mode.rounding), bits_of(expected)) << x << " mode " << mode.host;
    }
  }
}

TEST_F(Modes, FusedMultiplyAddMatchesTheHost) {
  for (int i = 0; i < 100000; ++i) {
    std::uint64_t a = random(), b = random(), c = random();
    if (i % 3 == 0) {  // products near the addend: cancellation and ties
      a = (a & 0x800fff0000000000) | (std::uint64_t{1000 + a % 40} << 52);
      b = (b & 0x800fff0000000000) | (std::uint64_t{1000 + b % 40} << 52);
      const double product = -double_of(a) * double_of(b);
      c = bits_of(product) + (i % 7 == 0 ? random() % 5 - 2 : 0);
    }
    const double x = double_of(a), y = double_of(b), z = double_of(c);
    for (const Mode& mode : modes) {
      std::fesetround(mode.host);
      volatile double vx = x, vy = y, vz = z;
      volatile double out = std::fma(vx, vy, vz);
      std::fesetround(FE_TONEAREST);
      const double expected = out;
      const std::uint64_t found = fused_multiply_add(f64, a, b, c, mode.rounding);
      if (std::isnan(expected)) {
        ASSERT_EQ(found, f64.nan());
      } else {
        ASSERT_EQ(found, bits_of(expected)) << x << ' ' << y << ' ' << z << " mode " << mode.host;
      }
    }
    const auto fa = static_cast<std::uint32_t>(a >> 32), fb = static_cast<std::uint32_t>(b >> 32),
               fc = static_cast<std::uint32_t>(c);
    const float expected = std::fma(float_of(fa), float_of(fb), float_of(fc));
    const std::uint64_t found = fused_multiply_add(f32, fa, fb, fc, Rounding::nearest_even);
    ASSERT_EQ(found, std::isnan(expected) ? f32.nan() : bits_of(expected));
  }
}

TEST_F(Modes, RoundingToIntegersMatchesTheHost) {
  for (int i = 0; i < 100000; ++i) {
    std::uint64_t pattern = random();
    if (i % 4 != 0) pattern = (pattern & 0x800fffffffffffff) | ((1015 + pattern % 72) << 52);
    if (i % 3 == 0) pattern &= 0xfffe000000000000;  // halves
    const double x = double_of(pattern);
    if (std::isnan(x)) continue;
    for (const Mode& mode : modes) {
      std::fesetround(mode.host);
      volatile double in = x;
      volatile double out = std::nearbyint(in);
      std::fesetround(FE_TONEAREST);
      const double whole = out;
      ASSERT_EQ(round_to_integer(f64, pattern, mode.rounding), bits_of(whole)) << x;
      // Clamping, in long doubles, which hold every 64-bit integer.
      const auto clamped = [&](long double low, long double high) {
        return std::clamp(static_cast<long double>(whole), low, high);
      };
      ASSERT_EQ(to_integer(f64, pattern, mode.rounding, 64, true),
                static_cast<std::uint64_t>(static_cast<std::int64_t>(clamped(-0x1p63L, 0x1p63L - 1))));
      ASSERT_EQ(to_integer(f64, pattern, mode.rounding, 64, false),
                static_cast<std::uint64_t>(clamped(0, 0x1p64L - 1)));
      ASSERT_EQ(to_integer(f64, pattern, mode.rounding, 32, true),
                static_cast<std::uint32_t>(static_cast<std::int32_t>(clamped(-0x1p31L, 0x1p31L - 1))));
      ASSERT_EQ(to_integer(f64, pattern, mode.rounding, 8, false),
                static_cast<std::uint8_t>(clamped(0, 255)));
      ASSERT_EQ(to_integer(f64, pattern, mode.rounding, 16, true),
                static_cast<std::uint16_t>(static_cast<std::int16_t>(clamped(-32768, 32767))));
    }
  }
  EXPECT_EQ(to_integer(f32, f32.nan(), Rounding::to_zero, 32, true), 0U);
  EXPECT_EQ(to_integer(f32, f32.nan(), Rounding::to_zero, 64, true), std::uint64_t{1} << 63);
  EXPECT_EQ(to_integer(f64, f64.nan(), Rounding::to_zero, 32, false), 0x80000000U);
}

TEST_F(Modes, IntegersBecomeTheFloatsOfTheHost) {
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t x = random() >> (random() % 64);
    for (const Mode& mode : modes) {
      std::fesetround(mode.host);
      volatile std::int64_t is = static_cast<std::int64_t>(x);
      volatile std::int32_t is32 = static_cast<std::int32_t>(x);
      volatile float f_signed = static_cast<float>(is);
      volatile float f_32 = static_cast<float>(is32);
      volatile double d_signed = static_cast<double>(is);
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(from_integer(f32, x, 64, true, mode.rounding), bits_of(static_cast<float>(f_signed)));
      ASSERT_EQ(from_integer(f32, x, 32, true, mode.rounding), bits_of(static_cast<float>(f_32)));
      ASSERT_EQ(from_integer(f64, x, 64, true, mode.rounding), bits_of(static_cast<double>(d_signed)));
    }
    ASSERT_EQ(from_integer(f32, x, 64, false, Rounding::nearest_even), bits_of(static_cast<float>(x)));
  }
  EXPECT_EQ(from_integer(f16, 65520, 32, false, Rounding::nearest_even), f16.infinity());
  EXPECT_EQ(from_integer(f16, 65520, 32, false, Rounding::to_zero), f16.largest());
}

TEST(Formats, FlushingKeepsTheSignAndNothingElseOfASubnormal) {
  EXPECT_EQ(flush_subnormal(f32, 0x80000001), 0x80000000U);
  EXPECT_EQ(flush_subnormal(f32, 0x00800000), 0x00800000U);
  EXPECT_EQ(flush_subnormal(f16, 0x03ff), 0U);
  EXPECT_EQ(flush_subnormal(f32, 0x7fc00000), 0x7fc00000U);
}

TEST(ExactSum, KeepsWhatCancellationWouldLose) {
  ExactSum<f64_sum_words> sum(f64_sum_lowest);
  sum.add(false, 1, 1000);
  sum.add(false, 1, -1000);
  sum.add(true, 1, 1000);
  EXPECT_EQ(sum.round(f64, Rounding::nearest_even), bits_of(std::ldexp(1.0, -1000)));
  sum.add(true, 3, -1000);
  EXPECT_EQ(sum.round(f64, Rounding::nearest_even), bits_of(-std::ldexp(1.0, -999)));
}

}  // namespace
}  // namespace tenon::emulator::numerics
