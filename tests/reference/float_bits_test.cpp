// The host's f16, bf16 and 8-bit floats compared with the toolkit's: every pattern, and every float that may
// round wrongly. tf32, for which the toolkit has no host code, compared with its definition.
#include "reference/float_bits.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <algorithm>
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

// Every finite value of a format, every midpoint between two neighbours, and the floats next to both.
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
    // Beyond the largest finite value the format would continue with the same spacing.
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

struct Fp8 {
  const char* name;
  SmallFloat format;
  __nv_fp8_interpretation_t cuda;
};
const Fp8 fp8_types[] = {{"e4m3", e4m3_format, __NV_E4M3}, {"e5m2", e5m2_format, __NV_E5M2}};

bool is_fp8_nan(std::uint32_t bits, const Fp8& type) {
  return (bits & 0x7fU) > (type.format.has_infinity ? 0x7cU : 0x7eU);
}
float cuda_from_fp8(std::uint8_t bits, const Fp8& type) {
  return cuda_from_f16(__nv_cvt_fp8_to_halfraw(bits, type.cuda).x);
}
// The toolkit's host conversion, whose NaNs differ.
void expect_rounds_as_cuda_does(float x, const Fp8& type) {
  const std::uint8_t found = small_from_float(x, type.format);
  const std::uint8_t wanted = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, type.cuda);
  if (is_fp8_nan(wanted, type)) {
    ASSERT_EQ(found, 0x7f) << type.name;
  } else {
    ASSERT_EQ(found, wanted) << type.name << ", " << std::hexfloat << x;
  }
}

TEST(FloatBits, EveryFp8IsDecodedAsCudaDoes) {
  for (const Fp8& type : fp8_types) {
    for (std::uint32_t bits = 0; bits < 0x100U; ++bits) {
      const auto pattern = static_cast<std::uint8_t>(bits);
      const float found = float_from_small(pattern, type.format), wanted = cuda_from_fp8(pattern, type);
      ASSERT_EQ(std::isnan(found), is_fp8_nan(bits, type)) << type.name << ", " << bits;
      if (!std::isnan(found)) {
        ASSERT_EQ(float_to_bits(found), float_to_bits(wanted)) << type.name << ", " << bits;
      }
    }
  }
}

TEST(FloatBits, EveryFp8SurvivesTheRoundTrip) {
  for (const Fp8& type : fp8_types) {
    for (std::uint32_t bits = 0; bits < 0x100U; ++bits) {
      const float value = float_from_small(static_cast<std::uint8_t>(bits), type.format);
      const std::uint32_t wanted = std::isnan(value)   ? 0x7fU
                                   : std::isinf(value) ? bits - 1  // the largest finite number
                                                       : bits;
      ASSERT_EQ(small_from_float(value, type.format), wanted) << type.name;
    }
  }
}

TEST(FloatBits, RoundsToFp8AsCudaDoes) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const Fp8& type : fp8_types) {
    // Every value, every midpoint between two neighbours, and the floats next to both.
    for (std::uint32_t bits = 0; bits < 0x100U; ++bits) {
      const float value = float_from_small(static_cast<std::uint8_t>(bits), type.format);
      if (!std::isfinite(value)) continue;
      const float next = float_from_small(static_cast<std::uint8_t>(bits + 1), type.format);
      for (const float x : {value, std::isfinite(next) ? value + (next - value) / 2 : 1.0625F * value}) {
        for (const float near : {x, std::nextafter(x, infinity), std::nextafter(x, -infinity)})
          ASSERT_NO_FATAL_FAILURE(expect_rounds_as_cuda_does(near, type));
      }
    }
    for (std::uint64_t bits = 0; bits < 0x100000000U; bits += 10007)  // a prime: no low bit keeps its value
      ASSERT_NO_FATAL_FAILURE(
          expect_rounds_as_cuda_does(float_from_bits(static_cast<std::uint32_t>(bits)), type));
    for (const float x : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), -0.0F})
      ASSERT_NO_FATAL_FAILURE(expect_rounds_as_cuda_does(x, type));
  }
}

TEST(FloatBits, RoundsToTf32AtTies) {
  for (std::uint64_t bits = 0; bits < 0x100000000U; bits += 1021) {
    const float x = float_from_bits(static_cast<std::uint32_t>(bits));
    const std::uint32_t found = tf32_from_float(x);
    ASSERT_TRUE(std::isnan(x) || (found & 0x1fffU) == 0) << std::hex << bits;
    const float value = float_from_bits(found);
    if (!std::isfinite(x) || !std::isfinite(value)) continue;
    const double unit = std::ldexp(1.0, std::max(x == 0.0F ? -126 : std::ilogb(x), -126) - 10);
    const double error = std::fabs(static_cast<double>(value) - static_cast<double>(x));
    ASSERT_LE(error, unit / 2) << std::hex << bits;
    if (error == unit / 2) {
      ASSERT_EQ(found & 0x2000U, 0U) << std::hex << bits;
    }
  }
  EXPECT_EQ(tf32_from_float(1.0F + 0x1p-11F), 0x3f800000U);  // ties: to even
  EXPECT_EQ(tf32_from_float(1.0F + 0x3p-11F), 0x3f804000U);
  EXPECT_EQ(tf32_from_float(-1.0F - 0x1p-11F - 0x1p-23F), 0xbf802000U);
  EXPECT_EQ(tf32_from_float(std::numeric_limits<float>::max()), 0x7f800000U);
  EXPECT_EQ(tf32_from_float(-std::numeric_limits<float>::infinity()), 0xff800000U);
  EXPECT_TRUE(std::isnan(float_from_bits(tf32_from_float(float_from_bits(0x7f800001U)))));
}

// The tensor core truncates the lowest 13 bits and does not round them.
TEST(FloatBits, ReadsTf32AsTheTensorCoreDoes) {
  EXPECT_EQ(float_from_tf32(0x3f801fffU), 1.0F);
  EXPECT_EQ(float_from_tf32(0xbf803fffU), -1.0F - 0x1p-10F);
  EXPECT_EQ(float_from_tf32(0x7f7fffffU), 0x1.ffcp127F);
  EXPECT_EQ(float_to_bits(float_from_tf32(0x80001fffU)), 0x80000000U);
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
  EXPECT_EQ(small_from_float(1.0F, e4m3_format), 0x38);
  EXPECT_EQ(small_from_float(448.0F, e4m3_format), 0x7e);
  EXPECT_EQ(small_from_float(1e9F, e4m3_format), 0x7e);
  EXPECT_EQ(small_from_float(0x1p-9F, e4m3_format), 0x01);
  EXPECT_EQ(small_from_float(-0x1p-10F, e4m3_format), 0x80);  // a tie: to even
  EXPECT_EQ(small_from_float(1.0F, e5m2_format), 0x3c);
  EXPECT_EQ(small_from_float(57344.0F, e5m2_format), 0x7b);
  EXPECT_EQ(small_from_float(1e9F, e5m2_format), 0x7b);
  EXPECT_EQ(small_from_float(0x1p-16F, e5m2_format), 0x01);
}

}  // namespace
}  // namespace tenon::reference
