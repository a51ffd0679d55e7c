// The common f32 and f64 instructions, rounded to nearest, on the host's floating point: the fast path of
// float.cpp. The compiler must neither contract nor reorder (-std=c++17 does neither), and must evaluate f32
// in 24 bits, as SSE and NEON do. Builds on float_arithmetic.
#pragma once

#include <cmath>
#include <cstring>

#include "emulator/instructions/float_arithmetic.hpp"

namespace tenon::emulator::on_host {

using arithmetic::Bits;
using numerics::Rounding;

inline float float_of(Bits bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}
inline Bits bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline double double_of(Bits bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline Bits bits_of(double value) {
  Bits bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline Bits flushed(Bits bits) {
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}
inline Bits canonical(float value) {
  return value != value ? 0x7fffffff : bits_of(value);
}
template <bool flush>
float input(Bits bits) {
  return float_of(flush ? flushed(bits) : bits);
}
template <bool flush>
Bits output(float value) {
  return flush ? flushed(canonical(value)) : canonical(value);
}

template <bool flush>
Bits add_f32(Bits a, Bits b) {
  return output<flush>(input<flush>(a) + input<flush>(b));
}
template <bool flush>
Bits subtract_f32(Bits a, Bits b) {
  return output<flush>(input<flush>(a) - input<flush>(b));
}
template <bool flush>
Bits multiply_f32(Bits a, Bits b) {
  const Bits result = canonical(input<flush>(a) * input<flush>(b));
  if (!flush) return result;
  const auto run = [](const numerics::Format& format, Bits x, Bits y) {
    return arithmetic::multiply(format, x, y, Rounding::nearest_even);
  };
  return arithmetic::flush_result(numerics::f32, result, run, flushed(a), flushed(b));
}
template <bool flush>
Bits fma_f32(Bits a, Bits b, Bits c) {
  const Bits result = canonical(std::fma(input<flush>(a), input<flush>(b), input<flush>(c)));
  if (!flush) return result;
  const auto run = [](const numerics::Format& format, Bits x, Bits y, Bits z) {
    return arithmetic::fused_multiply_add(format, x, y, z, Rounding::nearest_even);
  };
  return arithmetic::flush_result(numerics::f32, result, run, flushed(a), flushed(b), flushed(c));
}
// No quotient below the smallest normal number rounds to it: 1 - x / y is more than half a unit.
template <bool flush>
Bits divide_f32(Bits a, Bits b) {
  return output<flush>(input<flush>(a) / input<flush>(b));
}
// Equal operands have the same pattern, or are zeros: the AND of their sign bits is the larger zero's.
template <bool flush>
Bits maximum_f32(Bits a, Bits b) {
  const float x = input<flush>(a), y = input<flush>(b);
  if (flush) {
    a = flushed(a);
    b = flushed(b);
  }
  if (x != x) return y != y ? 0x7fffffff : b;
  return x > y || y != y ? a : x < y ? b : a & b;
}
template <bool flush>
Bits minimum_f32(Bits a, Bits b) {
  const float x = input<flush>(a), y = input<flush>(b);
  if (flush) {
    a = flushed(a);
    b = flushed(b);
  }
  if (x != x) return y != y ? 0x7fffffff : b;
  return x < y || y != y ? a : x > y ? b : a | b;
}

// The approximate functions of f32, in double precision and then rounded.
template <bool flush, double (*function)(double)>
Bits approximate_f32(Bits a) {
  return output<flush>(static_cast<float>(function(input<flush>(a))));
}
inline double reciprocal(double x) {
  return 1 / x;
}
inline double reciprocal_root(double x) {
  return 1 / std::sqrt(x);  // the root of -0 is -0
}
inline double square_root(double x) {
  return std::sqrt(x);
}
inline double log2(double x) {
  return std::log2(x);
}
inline double exp2(double x) {
  return std::exp2(x);
}
inline double tanh(double x) {
  return std::tanh(x);
}

// float_arithmetic handles NaNs, whose payload it selects.
inline Bits add_f64(Bits a, Bits b) {
  const double result = double_of(a) + double_of(b);
  return result == result ? bits_of(result) : arithmetic::add(numerics::f64, a, b, Rounding::nearest_even);
}
inline Bits subtract_f64(Bits a, Bits b) {
  const double result = double_of(a) - double_of(b);
  return result == result ? bits_of(result)
                          : arithmetic::subtract(numerics::f64, a, b, Rounding::nearest_even);
}
inline Bits multiply_f64(Bits a, Bits b) {
  const double result = double_of(a) * double_of(b);
  return result == result ? bits_of(result)
                          : arithmetic::multiply(numerics::f64, a, b, Rounding::nearest_even);
}
inline Bits fma_f64(Bits a, Bits b, Bits c) {
  const double result = std::fma(double_of(a), double_of(b), double_of(c));
  return result == result ? bits_of(result)
                          : arithmetic::fused_multiply_add(numerics::f64, a, b, c, Rounding::nearest_even);
}
inline Bits divide_f64(Bits a, Bits b) {
  const double result = double_of(a) / double_of(b);
  return result == result ? bits_of(result) : arithmetic::divide(numerics::f64, a, b, Rounding::nearest_even);
}

}  // namespace tenon::emulator::on_host
