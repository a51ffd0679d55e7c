// Conversions of single numbers: float to and from the bits of f16, bf16, tf32, e4m3 and e5m2, integers to
// and from the bits of s8, u8, s4 and u4. Plain C++ for host and device. They define what the functions of
// pack.hpp compute: the results are those of the PTX conversions (PTX ISA 9.7.9.21 cvt), bit for bit, so host
// and kernel agree. Includes host_device.hpp only.
#pragma once

#include "tenon/fragment/host_device.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

TENON_HOST_DEVICE inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
TENON_HOST_DEVICE inline float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A binary floating-point format narrower than f32, in the low bits of a word: sign, exponent, mantissa.
template <int Exponent, int Mantissa, std::uint32_t Largest, std::uint32_t Infinity, std::uint32_t NaN,
          bool Saturates>
struct Format {
  static constexpr int exponent_bits = Exponent, mantissa_bits = Mantissa;
  static constexpr int least_exponent = 2 - (1 << (Exponent - 1));  // of normal numbers
  static constexpr std::uint32_t sign = 1U << (Exponent + Mantissa);
  static constexpr std::uint32_t largest = Largest;    // the largest finite number
  static constexpr std::uint32_t infinity = Infinity;  // 0: the format has none
  static constexpr std::uint32_t nan = NaN;            // the one NaN that conversions make, without a sign
  static constexpr std::uint32_t overflow = Saturates ? Largest : Infinity;  // what larger numbers become
};
using FormatF16 = Format<5, 10, 0x7bff, 0x7c00, 0x7fff, false>;
using FormatBf16 = Format<8, 7, 0x7f7f, 0x7f80, 0x7fff, false>;
using FormatE4m3 =
    Format<4, 3, 0x7e, 0, 0x7f, true>;  // fp8 saturates, infinity included, as in cvt.satfinite,
using FormatE5m2 = Format<5, 2, 0x7b, 0x7c, 0x7f, true>;  // the only conversion to fp8 that PTX has

// Round to nearest, ties to even; subnormals are kept; every NaN becomes Format::nan.
template <class F>
TENON_HOST_DEVICE inline std::uint32_t encode(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return F::nan;
  const std::uint32_t sign = bits >> 31 != 0 ? F::sign : 0;

  // Subnormals of the format are multiples of its smallest one, and so is the last bit of `unit`: the sum is
  // rounded as the format asks.
  constexpr int smallest = F::least_exponent - F::mantissa_bits;
  const float unit = float_of(static_cast<std::uint32_t>(127 + smallest + 23) << 23);
  const std::uint32_t least_normal = static_cast<std::uint32_t>(127 + F::least_exponent) << 23;
  // Of other numbers the low bits go; a carry of the rounding adds to the exponent field.
  constexpr int dropped = 23 - F::mantissa_bits;
  constexpr std::uint32_t below_half = (1U << (dropped - 1)) - 1;
  const std::uint32_t kept = (magnitude + below_half + (magnitude >> dropped & 1U)) >> dropped;
  constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 + F::least_exponent - 1)
                                   << F::mantissa_bits;

  const std::uint32_t result =
      magnitude < least_normal ? bits_of(float_of(magnitude) + unit) - bits_of(unit) : kept - rebias;
  return sign | (result > F::largest ? F::overflow : result);
}

// Exact: every number of these formats is a float.
template <class F>
TENON_HOST_DEVICE inline float decode(std::uint32_t bits) {
  const std::uint32_t sign = (bits & F::sign) != 0 ? 0x80000000U : 0;
  const std::uint32_t magnitude = bits & (F::sign - 1);
  if (magnitude > F::largest) return float_of(magnitude == F::infinity ? sign | 0x7f800000U : 0x7fffffffU);
  if (F::exponent_bits == 8) return float_of(sign | magnitude << (23 - F::mantissa_bits));
  const std::uint32_t field = magnitude >> F::mantissa_bits;
  if (field == 0) {  // magnitude * 2^(least_exponent - mantissa_bits), a normal float
    const float unit = float_of(static_cast<std::uint32_t>(127 + F::least_exponent - F::mantissa_bits) << 23);
    return float_of(sign | bits_of(static_cast<float>(magnitude) * unit));
  }
  const std::uint32_t rebias = static_cast<std::uint32_t>(127 + F::least_exponent - 1) << 23;
  return float_of(sign | ((magnitude << (23 - F::mantissa_bits)) + rebias));
}

// tf32 is a float whose 13 low bits are zero. Rounds to nearest, ties away from zero, as cvt.rna.tf32.f32
// does. (A tensor core truncates a float that is not rounded: twice the error, always towards zero.) Here a
// NaN stays a NaN even if its payload is in the low 13 bits only. No arithmetic makes such a NaN, and cvt
// turns it into an infinity.
TENON_HOST_DEVICE inline std::uint32_t round_to_tf32(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U && magnitude < 0x7f802000U) return 0x7fffe000U;
  return (magnitude >= 0x7f800000U ? bits : bits + 0x1000U) & 0xffffe000U;
}

// Integers of 2 to 8 bits, saturating, as cvt.pack.sat.
TENON_HOST_DEVICE constexpr std::uint32_t encode_signed(std::int32_t value, int bits) {
  const std::int32_t largest = (1 << (bits - 1)) - 1;
  const std::int32_t clamped = value > largest ? largest : value < -largest - 1 ? -largest - 1 : value;
  return static_cast<std::uint32_t>(clamped) & ((1U << bits) - 1);
}
TENON_HOST_DEVICE constexpr std::uint32_t encode_unsigned(std::int32_t value, int bits) {
  const std::int32_t largest = (1 << bits) - 1;
  return static_cast<std::uint32_t>(value > largest ? largest : value < 0 ? 0 : value);
}
TENON_HOST_DEVICE constexpr std::int32_t decode_signed(std::uint32_t bits, int width) {
  const std::uint32_t sign = 1U << (width - 1);
  const std::uint32_t field = bits & ((1U << width) - 1);
  return static_cast<std::int32_t>(field ^ sign) - static_cast<std::int32_t>(sign);
}
TENON_HOST_DEVICE constexpr std::int32_t decode_unsigned(std::uint32_t bits, int width) {
  return static_cast<std::int32_t>(bits & ((1U << width) - 1));
}

}  // namespace tenon
