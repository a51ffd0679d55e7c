// f16 and bf16 on the host's floating point, rounded to nearest: conversions to and from f32 by bits; sums
// and products that are exact, or rounded to odd before their only rounding. The fast path of float.cpp and
// conversion.cpp; tests compare it with formats. Builds on float_on_host.
#pragma once

#include <cmath>

#include "emulator/instructions/float_on_host.hpp"

namespace tenon::emulator::on_host {

inline Bits f32_of_f16(Bits a) {
  const Bits sign = (a & 0x8000) << 16, magnitude = a & 0x7fff;
  if (magnitude > 0x7c00) return 0x7fffffff;
  if (magnitude == 0x7c00) return sign | 0x7f800000;
  if (magnitude >= 0x0400) return sign | ((magnitude << 13) + 0x38000000);
  return sign | bits_of(static_cast<float>(magnitude) * 0x1p-24F);
}
inline Bits f32_of_bf16(Bits a) {
  return (a & 0x7fff) > 0x7f80 ? 0x7fffffff : a << 16;
}

inline Bits f16_of_f32(Bits a) {
  const Bits sign = a >> 16 & 0x8000, magnitude = a & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // from half a unit above the largest number on
  if (magnitude >= 0x38800000) {                      // 2^-14
    return sign | ((magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13);
  }
  // The unit of 0.5 is that of the subnormals.
  return sign | (bits_of(float_of(magnitude) + 0.5F) - bits_of(0.5F));
}
inline Bits bf16_of_f32(Bits a) {
  if ((a & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return (a + 0x7fff + (a >> 16 & 1)) >> 16;
}

inline double number_of(const numerics::Format& half, Bits a) {
  return float_of(half.exponent_bits == 5 ? f32_of_f16(a) : f32_of_bf16(a));
}

// Rounding to odd (inexact results get their last bit set) keeps a later rounding to two fewer bits correct.
inline float float_to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || x != x) return nearest;
  if (std::isinf(nearest)) return std::copysign(0x1.fffffep127F, nearest);  // which is odd
  const Bits bits = bits_of(nearest);
  if ((bits & 1) != 0) return nearest;
  const bool beyond = std::fabs(static_cast<double>(nearest)) > std::fabs(x);
  // A zero results from a number that is too small: rounded to odd it is the smallest subnormal with its
  // sign.
  return float_of(beyond ? bits - 1 : bits + 1);
}
inline double sum_to_odd(double x, double y) {
  const double sum = x + y, part = sum - x, error = (x - (sum - part)) + (y - part);
  if (error == 0 || error != error) return sum;
  const Bits bits = bits_of(sum);
  if ((bits & 1) != 0) return sum;
  return double_of((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

inline Bits half_of(const numerics::Format& half, double x) {
  const Bits single = bits_of(float_to_odd(x));
  return half.exponent_bits == 5 ? f16_of_f32(single) : bf16_of_f32(single);
}
inline Bits half_add(const numerics::Format& half, Bits a, Bits b) {
  return half_of(half, sum_to_odd(number_of(half, a), number_of(half, b)));
}
inline Bits half_multiply(const numerics::Format& half, Bits a, Bits b) {
  return half_of(half, number_of(half, a) * number_of(half, b));
}
inline Bits half_multiply_add(const numerics::Format& half, Bits a, Bits b, Bits c) {
  return half_of(half, sum_to_odd(number_of(half, a) * number_of(half, b), number_of(half, c)));
}

}  // namespace tenon::emulator::on_host
