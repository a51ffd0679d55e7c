// Packing on the host. Rounding is tested at every number of every format against the definition of the
// format (std::ldexp in double): the number itself, and below, at and above the midpoint to the next.
#include "tenon/fragment/pack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

// The non-negative number that the code stands for, by definition of the format.
double number(std::uint32_t code, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(code >> mantissa_bits);
  const double mantissa = static_cast<double>(code & ((1U << mantissa_bits) - 1));
  if (exponent == 0) return std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

template <class F>
void expect_rounds_to_nearest_even(int exponent_bits, int mantissa_bits, std::uint32_t largest) {
  const std::uint32_t minus = 1U << (exponent_bits + mantissa_bits);
  const auto expect = [minus](double value, std::uint32_t code) {
    const auto exact = static_cast<float>(value);
    ASSERT_EQ(static_cast<double>(exact), value);
    ASSERT_EQ(encode<F>(exact), code) << value;
    ASSERT_EQ(encode<F>(-exact), code | minus) << -value;
  };
  for (std::uint32_t code = 0; code <= largest; ++code) {
    const double value = number(code, exponent_bits, mantissa_bits);
    expect(value, code);
    ASSERT_EQ(static_cast<double>(decode<F>(code)), value);
    ASSERT_EQ(static_cast<double>(decode<F>(code | minus)), -value);
    ASSERT_TRUE(std::signbit(decode<F>(code | minus)));
    if (code == largest) break;
    const double midpoint = (value + number(code + 1, exponent_bits, mantissa_bits)) / 2;
    const auto tie = static_cast<float>(midpoint);
    expect(std::nextafter(tie, 0.0F), code);
    expect(midpoint, code % 2 == 0 ? code : code + 1);
    expect(std::nextafter(tie, infinity), code + 1);
  }
}

TEST(Pack, RoundsF16) {
  expect_rounds_to_nearest_even<FormatF16>(5, 10, 0x7bff);
}
TEST(Pack, RoundsBf16) {
  expect_rounds_to_nearest_even<FormatBf16>(8, 7, 0x7f7f);
}
TEST(Pack, RoundsE4m3) {
  expect_rounds_to_nearest_even<FormatE4m3>(4, 3, 0x7e);
}
TEST(Pack, RoundsE5m2) {
  expect_rounds_to_nearest_even<FormatE5m2>(5, 2, 0x7b);
}

TEST(Pack, F16AndBf16OverflowToInfinity) {
  EXPECT_EQ(encode<FormatF16>(std::nextafter(65520.0F, 0.0F)), 0x7bffU);
  EXPECT_EQ(encode<FormatF16>(65520.0F), 0x7c00U);  // halfway to 65536
  EXPECT_EQ(encode<FormatF16>(-1e30F), 0xfc00U);
  EXPECT_EQ(encode<FormatF16>(infinity), 0x7c00U);
  EXPECT_EQ(encode<FormatF16>(-infinity), 0xfc00U);
  EXPECT_EQ(encode<FormatBf16>(float_of(0x7f7f7fffU)), 0x7f7fU);
  EXPECT_EQ(encode<FormatBf16>(float_of(0x7f7f8000U)), 0x7f80U);
  EXPECT_EQ(encode<FormatBf16>(std::numeric_limits<float>::max()), 0x7f80U);
  EXPECT_EQ(encode<FormatBf16>(-infinity), 0xff80U);
  EXPECT_EQ(decode<FormatF16>(0xfc00U), -infinity);
  EXPECT_EQ(decode<FormatBf16>(0x7f80U), infinity);
}

TEST(Pack, Fp8Saturates) {
  EXPECT_EQ(encode<FormatE4m3>(449.0F), 0x7eU);
  EXPECT_EQ(encode<FormatE4m3>(1e30F), 0x7eU);
  EXPECT_EQ(encode<FormatE4m3>(infinity), 0x7eU);
  EXPECT_EQ(encode<FormatE4m3>(-infinity), 0xfeU);
  EXPECT_EQ(encode<FormatE5m2>(65536.0F), 0x7bU);
  EXPECT_EQ(encode<FormatE5m2>(infinity), 0x7bU);
  EXPECT_EQ(encode<FormatE5m2>(-1e30F), 0xfbU);
  EXPECT_EQ(decode<FormatE5m2>(0x7cU), infinity);
  EXPECT_EQ(decode<FormatE5m2>(0xfcU), -infinity);
  EXPECT_EQ(decode<FormatE4m3>(0x78U), 256.0F);  // no infinity: the top exponent holds numbers
}

TEST(Pack, NanIsTheCanonicalNan) {
  for (const float nan : {quiet_nan, -quiet_nan, float_of(0x7f800001U), float_of(0xffc12345U)}) {
    EXPECT_EQ(encode<FormatF16>(nan), 0x7fffU);
    EXPECT_EQ(encode<FormatBf16>(nan), 0x7fffU);
    EXPECT_EQ(encode<FormatE4m3>(nan), 0x7fU);
    EXPECT_EQ(encode<FormatE5m2>(nan), 0x7fU);
  }
  for (const std::uint32_t code : {0x7c01U, 0x7fffU, 0xfe00U})
    EXPECT_TRUE(std::isnan(decode<FormatF16>(code)));
  for (const std::uint32_t code : {0x7f81U, 0xffffU}) EXPECT_TRUE(std::isnan(decode<FormatBf16>(code)));
  for (const std::uint32_t code : {0x7fU, 0xffU}) EXPECT_TRUE(std::isnan(decode<FormatE4m3>(code)));
  for (const std::uint32_t code : {0x7dU, 0x7eU, 0x7fU, 0xfdU})
    EXPECT_TRUE(std::isnan(decode<FormatE5m2>(code)));
}

TEST(Pack, KeepsTheSignOfZero) {
  EXPECT_EQ(encode<FormatF16>(-0.0F), 0x8000U);
  EXPECT_EQ(encode<FormatBf16>(-0.0F), 0x8000U);
  EXPECT_EQ(encode<FormatE4m3>(-1e-30F), 0x80U);       // underflow
  EXPECT_EQ(encode<FormatE5m2>(-float_of(1)), 0x80U);  // the smallest subnormal float
}

// Every tf32 number, and the floats around the midpoint to the next: ties go away from zero.
TEST(Pack, RoundsTf32HalfAwayFromZero) {
  for (std::uint32_t high = 0; high < 0x7f800000U >> 13; ++high) {
    const std::uint32_t down = high << 13, up = (high + 1) << 13;  // the last one carries into infinity
    for (const std::uint32_t sign : {0U, 0x80000000U}) {
      ASSERT_EQ(to_tf32(float_of(sign | down)), sign | down);
      ASSERT_EQ(to_tf32(float_of(sign | down | 0x0fffU)), sign | down);
      ASSERT_EQ(to_tf32(float_of(sign | down | 0x1000U)), sign | up);
      ASSERT_EQ(to_tf32(float_of(sign | down | 0x1fffU)), sign | up);
    }
  }
  EXPECT_EQ(to_tf32(infinity), 0x7f800000U);
  EXPECT_EQ(to_tf32(-infinity), 0xff800000U);
  for (const std::uint32_t nan : {0x7fffffffU, 0x7fc00000U, 0x7f800001U, 0xff801fffU, 0xffc00001U}) {
    EXPECT_TRUE(std::isnan(float_of(to_tf32(float_of(nan)))));
    EXPECT_EQ(to_tf32(float_of(nan)) & 0x1fffU, 0U);
  }
}

TEST(Pack, PutsTheFirstArgumentLowest) {
  EXPECT_EQ(pack_f16x2(1.0F, -2.0F), 0xc0003c00U);
  EXPECT_EQ(pack_bf16x2(1.0F, -2.0F), 0xc0003f80U);
  EXPECT_EQ(pack_e4m3x4(1.0F, -2.0F, 0.5F, 448.0F), 0x7e30c038U);
  EXPECT_EQ(pack_e5m2x4(1.0F, -2.0F, 0.5F, 57344.0F), 0x7b38c03cU);
  EXPECT_EQ(pack_s8x4(1, -2, 127, -128), 0x807ffe01U);
  EXPECT_EQ(pack_u8x4(1, 2, 255, 128), 0x80ff0201U);
  EXPECT_EQ(pack_s4x8({1, -2, 7, -8, 0, 3, -1, 5}), 0x5f3087e1U);
  EXPECT_EQ(pack_u4x8({1, 2, 15, 8, 0, 3, 9, 5}), 0x59308f21U);
  bool bits[32] = {};
  bits[0] = bits[5] = bits[31] = true;
  EXPECT_EQ(pack_b1x32(bits), 0x80000021U);
}

TEST(Pack, IntegersSaturate) {
  EXPECT_EQ(pack_s8x4(128, 100000, -129, std::numeric_limits<std::int32_t>::min()), 0x80807f7fU);
  EXPECT_EQ(
      pack_u8x4(256, -1, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()),
      0x00ff00ffU);
  EXPECT_EQ(pack_s4x8({8, 100, -9, -100, 7, -8, 0, -1}), 0xf0878877U);
  EXPECT_EQ(pack_u4x8({16, 100, -1, -100, 15, 0, 1, 2}), 0x210f00ffU);
}

// Whatever the element type: unpack(pack(v)) is v, for values that the type has.
template <class T, int count>
void expect_round_trip(const typename Packing<T>::Value (&values)[count]) {
  typename Packing<T>::Value back[count] = {};
  Packing<T>::unpack(Packing<T>::pack(values), back);
  for (int i = 0; i < count; ++i) EXPECT_EQ(back[i], values[i]) << Element<T>::name << " " << i;
}
TEST(Pack, UnpackIsTheInverse) {
  expect_round_trip<__half>({1.5F, -65504.0F});
  expect_round_trip<__nv_bfloat16>({-3.0F, 256.0F});
  expect_round_trip<tf32>({1.0009765625F});
  expect_round_trip<e4m3>({0.001953125F, -448.0F, 13.0F, -0.0F});
  expect_round_trip<e5m2>({0.0000152587890625F, -57344.0F, 5.0F, -0.75F});
  expect_round_trip<std::int8_t>({-128, 127, 0, -1});
  expect_round_trip<std::uint8_t>({255, 0, 128, 1});
  expect_round_trip<s4>({-8, -1, 0, 1, 7, 3, -5, 6});
  expect_round_trip<u4>({15, 1, 0, 8, 7, 3, 10, 6});
  expect_round_trip<double>({0.1});
  bool bits[32];
  for (int i = 0; i < 32; ++i) bits[i] = i % 3 == 0;
  expect_round_trip<b1>(bits);
}

}  // namespace
}  // namespace tenon
