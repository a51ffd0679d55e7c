// f16, bf16, tf32 and fp8 as bit patterns: conversion to and from float on a host without such types.
//
// Both directions behave as the GPU's cvt instructions. To 16 bits: rounds to nearest, ties to even; overflow
// gives infinity, subnormals are kept, and every NaN becomes 0x7fff. From 16 bits: exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tenon::reference {

inline std::uint32_t float_to_bits(float value) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_from_bits(std::uint32_t bits) noexcept {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// f16: 1 sign, 5 exponent (bias 15), 10 fraction bits.
inline std::uint16_t f16_from_float(float value) noexcept {
  const std::uint32_t bits = float_to_bits(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return 0x7fff;                                       // NaN
  if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // 65520: halfway to 2^16

  std::uint32_t kept = 0;  // the result before rounding, and the bits below it
  std::uint32_t cut = 0;
  std::uint32_t half = 0;
  if (magnitude >= 0x38800000U) {  // at least 2^-14: normal in f16; the bias changes from 127 to 15
    const std::uint32_t rebiased = magnitude - (112U << 23);
    kept = rebiased >> 13;
    cut = rebiased & 0x1fffU;
    half = 0x1000U;
  } else {  // a multiple of 2^-24; float's significand counts in 2^(exponent - 150)
    const std::uint32_t exponent = magnitude >> 23;
    if (exponent < 102) return static_cast<std::uint16_t>(sign);  // below 2^-25, half of the smallest f16
    const std::uint32_t significand = (magnitude & 0x7fffffU) | 0x800000U;
    const std::uint32_t shift = 126 - exponent;
    kept = significand >> shift;
    cut = significand & ((1U << shift) - 1);
    half = 1U << (shift - 1);
  }
  // A carry out of the fraction lands in the exponent, which is the right result.
  if (cut > half || (cut == half && (kept & 1U) != 0)) ++kept;
  return static_cast<std::uint16_t>(sign | kept);
}

inline float float_from_f16(std::uint16_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0x1f) {
    return float_from_bits(fraction == 0 ? sign | 0x7f800000U : 0x7fffffffU);
  }
  if (exponent != 0) return float_from_bits(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;  // zero or subnormal: exact
  return sign != 0 ? -magnitude : magnitude;
}

// bf16: the upper half of a float.
inline std::uint16_t bf16_from_float(float value) noexcept {
  const std::uint32_t bits = float_to_bits(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

inline float float_from_bf16(std::uint16_t bits) noexcept {
  return float_from_bits(static_cast<std::uint32_t>(bits) << 16);
}

// The 8-bit floats: 1 sign, then exponent and fraction. As in cvt, conversion to 8 bits rounds to nearest,
// ties to even, and saturates at the largest finite number; every NaN becomes 0x7f.
struct SmallFloat {
  int fraction_bits, bias;
  float largest;
  bool has_infinity;
};
inline constexpr SmallFloat e4m3_format{3, 7, 448.0F, false};
inline constexpr SmallFloat e5m2_format{2, 15, 57344.0F, true};

inline std::uint8_t small_from_float(float value, const SmallFloat& format) noexcept {
  if (std::isnan(value)) return 0x7f;
  const unsigned sign = std::signbit(value) ? 0x80U : 0U;
  const float magnitude = std::fmin(std::fabs(value), format.largest);
  // In units of the last place; a carry out of the fraction lands in the exponent.
  const int exponent = magnitude == 0 ? 1 - format.bias : std::max(std::ilogb(magnitude), 1 - format.bias);
  const auto units =
      static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent)));
  const auto below = static_cast<unsigned>(exponent + format.bias - 1) << format.fraction_bits;
  return static_cast<std::uint8_t>(sign | (below + units));
}

inline float float_from_small(std::uint8_t bits, const SmallFloat& format) noexcept {
  const int magnitude = bits & 0x7f, exponent = magnitude >> format.fraction_bits;
  const int fraction = magnitude & ((1 << format.fraction_bits) - 1);
  const float sign = (bits & 0x80) != 0 ? -1.0F : 1.0F;
  if (format.has_infinity && exponent == 0x7f >> format.fraction_bits) {
    return fraction == 0 ? sign * std::numeric_limits<float>::infinity() : float_from_bits(0x7fffffffU);
  }
  if (!format.has_infinity && magnitude == 0x7f) return float_from_bits(0x7fffffffU);
  const int significand = exponent == 0 ? fraction : fraction | 1 << format.fraction_bits;
  return sign * std::ldexp(static_cast<float>(significand),
                           std::max(exponent, 1) - format.bias - format.fraction_bits);
}

// tf32: the upper 19 bits of a float.
inline std::uint32_t tf32_from_float(float value) noexcept {
  const std::uint32_t bits = float_to_bits(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fffffffU;
  return (bits + 0xfffU + ((bits >> 13) & 1U)) & ~0x1fffU;
}
inline float float_from_tf32(std::uint32_t bits) noexcept {
  return float_from_bits(bits & ~0x1fffU);
}

}  // namespace tenon::reference
