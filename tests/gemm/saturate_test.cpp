// saturate_to<T> on the host: ties to even, the ends of the range, infinities and NaN. The device's
// conversions run in the tests of products with 8-bit outputs, which compare with these functions.
#include "tenon/gemm/saturate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace tenon {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

int s8(float value) {
  return static_cast<std::int8_t>(saturate_to<std::int8_t>(value));
}

TEST(Saturate, IntegersRoundToNearestEven) {
  EXPECT_EQ(s8(0.5F), 0);
  EXPECT_EQ(s8(1.5F), 2);
  EXPECT_EQ(s8(2.5F), 2);
  EXPECT_EQ(s8(-0.5F), 0);
  EXPECT_EQ(s8(-1.5F), -2);
  EXPECT_EQ(s8(-2.5F), -2);
  EXPECT_EQ(s8(std::nextafterf(0.5F, 1.0F)), 1);
  EXPECT_EQ(s8(std::nextafterf(2.5F, 0.0F)), 2);
}

TEST(Saturate, IntegersEndAtTheirRange) {
  EXPECT_EQ(s8(127.49F), 127);
  EXPECT_EQ(s8(127.5F), 127);
  EXPECT_EQ(s8(128.0F), 127);
  EXPECT_EQ(s8(-128.5F), -128);
  EXPECT_EQ(s8(-129.0F), -128);
  for (const float large : {1e6F, 0x1p31F, 0x1p32F, 3e38F, infinity}) {
    EXPECT_EQ(s8(large), 127);
    EXPECT_EQ(s8(-large), -128);
  }
  EXPECT_EQ(s8(nan), 0);
}

TEST(Saturate, IntegersAreThoseOfTheMathLibrary) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> any(-140.0F, 140.0F);
  for (int i = 0; i < 100000; ++i) {
    const float value = i % 2 == 0 ? any(random) : std::floor(any(random)) + 0.5F;
    ASSERT_EQ(s8(value), static_cast<int>(std::fmin(std::fmax(std::nearbyintf(value), -128.0F), 127.0F)))
        << value;
    const float wide = value * 0x1p24F;
    ASSERT_EQ(round_to_integer(wide),
              static_cast<std::int32_t>(
                  std::fmax(std::fmin(std::nearbyint(double{wide}), 2147483647.0), -2147483648.0)));
  }
}

TEST(Saturate, Fp8EndsAtItsLargestFiniteValue) {
  EXPECT_EQ(saturate_to<e4m3>(448.0F), 0x7e);
  for (const float large : {464.0F, 1e6F, infinity}) {
    EXPECT_EQ(saturate_to<e4m3>(large), 0x7e);
    EXPECT_EQ(saturate_to<e4m3>(-large), 0xfe);
  }
  EXPECT_EQ(saturate_to<e5m2>(57344.0F), 0x7b);
  for (const float large : {61440.0F, 1e6F, infinity}) {
    EXPECT_EQ(saturate_to<e5m2>(large), 0x7b);
    EXPECT_EQ(saturate_to<e5m2>(-large), 0xfb);
  }
  EXPECT_EQ(saturate_to<e4m3>(nan) & 0x7f, 0x7f);
  EXPECT_EQ(saturate_to<e5m2>(nan) & 0x7f, 0x7f);
}

TEST(Saturate, PacksTheFirstLowest) {
  const float four[4] = {1.0F, -2.0F, 300.0F, -300.0F};
  EXPECT_EQ(saturate_to<std::int8_t>(four), 0x807ffe01U);
  EXPECT_EQ(saturate_to<e4m3>(four), std::uint32_t{saturate_to<e4m3>(1.0F)} |
                                         std::uint32_t{saturate_to<e4m3>(-2.0F)} << 8 |
                                         std::uint32_t{saturate_to<e4m3>(300.0F)} << 16 |
                                         std::uint32_t{saturate_to<e4m3>(-300.0F)} << 24);
}

}  // namespace
}  // namespace tenon
