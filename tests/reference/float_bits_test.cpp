// The host's f16 and bf16 against the toolkit's: every 16-bit pattern, and every float at which rounding can
// go wrong.
#include "reference/float_bits.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tenon::reference {
namespace {

std::uint16_t cuda_f16(float x) {
  return __half_raw(__float2half_rn(x)).x;
}
std::uint16_t cuda_bf16(float x) {
  return __nv_bfloat16_raw(__float2bfloat16_rn(x)).x;
}

float cuda_from_f16(std::uint16_t bits) {
  __half_raw raw;
  raw.x = bits;
  return __half2float(__half(raw));
}
float cuda_from_bf16(std::uint16_t bits) {
  __nv_bfloat16_raw raw;
  raw.x = bits;
  return __bfloat162float(__nv_bfloat16(raw));
}

// Every finite value of a format, every midpoint between two neighbours, and the floats just beside both.
std::vector<float> critical_floats(float (*decode)(std::uint16_t)) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0.0F,
                               -0.0F,
                               infinity,
                               -infinity,
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::denorm_min()};
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float value = decode(static_cast<std::uint16_t>(bits));
    const float neighbour = decode(static_cast<std::uint16_t>((bits & 0x7fffU) == 0x7fffU ? bits : bits + 1));
    if (!std::isfinite(value)) continue;
    // Beyond the largest finite value the format would go on with the same spacing.
    const float next =
        std::isfinite(neighbour) ? neighbour : value + (value - decode(static_cast<std::uint16_t>(bits - 1)));
    const float middle = value + (next - value) / 2;
    for (float x : {value, middle}) {
      values.insert(values.end(), {x, std::nextafter(x, infinity), std::nextafter(x, -infinity)});
    }
  }
  return values;
}

TEST(FloatBits, EveryF16IsDecodedAsCudaDoes) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(float_to_bits(float_from_f16(pattern)), float_to_bits(cuda_from_f16(pattern)))
        << std::hex << bits;
  }
}

TEST(FloatBits, EveryBf16IsDecodedAsCudaDoes) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(float_to_bits(float_from_bf16(pattern)), float_to_bits(cuda_from_bf16(pattern)))
        << std::hex << bits;
  }
}

TEST(FloatBits, EveryNumberSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const bool f16_nan = (bits & 0x7fffU) > 0x7c00U;
    const bool bf16_nan = (bits & 0x7fffU) > 0x7f80U;
    ASSERT_EQ(f16_from_float(float_from_f16(pattern)), f16_nan ? 0x7fff : pattern);
    ASSERT_EQ(bf16_from_float(float_from_bf16(pattern)), bf16_nan ? 0x7fff : pattern);
  }
}

TEST(FloatBits, RoundsAsCudaDoesAtEveryTie) {
  for (float x : critical_floats(float_from_f16)) {
    ASSERT_EQ(f16_from_float(x), cuda_f16(x)) << std::hexfloat << x;
  }
  for (float x : critical_floats(float_from_bf16)) {
    ASSERT_EQ(bf16_from_float(x), cuda_bf16(x)) << std::hexfloat << x;
  }
}

TEST(FloatBits, RoundsAsCudaDoesAcrossAllFloats) {
  for (std::uint64_t bits = 0; bits < 0x100000000U; bits += 1021) {  // a prime: no low bit keeps its value
    const float x = float_from_bits(static_cast<std::uint32_t>(bits));
    ASSERT_EQ(f16_from_float(x), cuda_f16(x)) << std::hex << bits;
    ASSERT_EQ(bf16_from_float(x), cuda_bf16(x)) << std::hex << bits;
  }
}

TEST(FloatBits, KnownPatterns) {
  EXPECT_EQ(f16_from_float(1.0F), 0x3c00);
  EXPECT_EQ(f16_from_float(65504.0F), 0x7bff);
  EXPECT_EQ(f16_from_float(65520.0F), 0x7c00);
  EXPECT_EQ(f16_from_float(0x1p-24F), 0x0001);
  EXPECT_EQ(f16_from_float(0x1p-25F), 0x0000);
  EXPECT_EQ(f16_from_float(-0.0F), 0x8000);
  EXPECT_EQ(bf16_from_float(1.0F), 0x3f80);
  EXPECT_EQ(bf16_from_float(0x1.01p0F), 0x3f80);  // a tie: to even
  EXPECT_EQ(bf16_from_float(0x1.03p0F), 0x3f82);
  EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::max()), 0x7f80);
}

}  // namespace
}  // namespace tenon::reference
