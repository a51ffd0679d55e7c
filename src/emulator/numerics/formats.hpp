// Floating-point formats by their bits: decodes a pattern, rounds a value to a pattern, converts. All of it
// is integer arithmetic on the patterns, so the host's rounding mode and NaNs have no effect. Includes no
// other part of the emulator.
#pragma once

#include <cstdint>

namespace tenon::emulator::numerics {

enum class Rounding : std::uint8_t {
  nearest_even,  // .rn  .rni
  to_zero,       // .rz  .rzi
  down,          // .rm  .rmi
  up,            // .rp  .rpi
  nearest_away   // .rna
};

// A binary format: sign, exponent, fraction, and (tf32) padding below the fraction, which is ignored when
// read and written as 0.
struct Format {
  int exponent_bits;
  int fraction_bits;
  int padding_bits = 0;
  bool has_infinity = true;  // e4m3 has none: with its top exponent, only the pattern of all ones is a NaN

  constexpr int bits() const { return 1 + exponent_bits + fraction_bits + padding_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  // For normal numbers 1.f * 2^e.
  constexpr int minimum_exponent() const { return 1 - bias(); }
  constexpr int maximum_exponent() const { return has_infinity ? bias() : bias() + 1; }
  constexpr std::uint64_t sign_bit() const { return std::uint64_t{1} << (bits() - 1); }
  constexpr std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << (fraction_bits + padding_bits);
  }
  // The NaN that the hardware generates (f64 keeps payloads: see convert).
  constexpr std::uint64_t nan() const { return sign_bit() - 1; }
  constexpr std::uint64_t largest() const {
    return has_infinity ? infinity() - (std::uint64_t{1} << padding_bits) : nan() - 1;
  }
};

constexpr Format f16{5, 10}, bf16{8, 7}, tf32{8, 10, 13}, e4m3{4, 3, 0, false}, e5m2{5, 2}, f32{8, 23},
    f64{11, 52};

// A decoded pattern. A finite value is (negative ? -1 : 1) * significand * 2^exponent.
struct Number {
  enum class Kind : std::uint8_t { zero, finite, infinity, nan } kind = Kind::zero;
  bool negative = false;
  int exponent = 0;
  std::uint64_t significand = 0;  // not 0 if kind is finite
};

Number decode(const Format& format, std::uint64_t pattern);

// The result for values beyond the largest finite one.
enum class Overflow : std::uint8_t {
  infinity,  // as IEEE 754: infinity if the rounding leads away from zero (e4m3: NaN), else the largest
  saturate   // .satfinite: the largest, for infinities too; a NaN stays a NaN
};

// The pattern of a value, rounded. `more`: the value exceeds `number` in magnitude by less than one unit of
// its significand, which then needs two bits more than the format's precision.
std::uint64_t encode(const Format& format, const Number& number, Rounding rounding = Rounding::nearest_even,
                     Overflow overflow = Overflow::infinity, bool more = false);

// cvt between two formats, without .ftz, .relu and .sat. A NaN becomes to.nan(); an f64 result keeps its
// payload.
std::uint64_t convert(const Format& to, const Format& from, std::uint64_t pattern,
                      Rounding rounding = Rounding::nearest_even, Overflow overflow = Overflow::infinity);

// Subnormals become zeros of the same sign: .ftz.
std::uint64_t flush_subnormal(const Format& format, std::uint64_t pattern);

bool is_nan(const Format& format, std::uint64_t pattern);

// The nearest integer in the same format: cvt.rni.f32.f32. Zeros keep the sign of the argument.
std::uint64_t round_to_integer(const Format& format, std::uint64_t pattern, Rounding rounding);

// cvt to an integer of `width` bits, clamped to its range; the result is zero-extended. A NaN becomes 0, or
// the integer with only the top bit set if f64 or a 64-bit integer takes part (PTX ISA, cvt).
std::uint64_t to_integer(const Format& format, std::uint64_t pattern, Rounding rounding, int width,
                         bool is_signed);

// cvt from an integer of `width` bits (higher bits are ignored).
std::uint64_t from_integer(const Format& format, std::uint64_t integer, int width, bool is_signed,
                           Rounding rounding, Overflow overflow = Overflow::infinity);

// Position of the highest set bit of a value that is not 0.
int highest_bit(std::uint64_t value);

// Common formats for arithmetic on the host: every f16, bf16, tf32 and fp8 value is an f32 value.
float to_float(const Format& format, std::uint64_t pattern);
double to_double(const Format& format, std::uint64_t pattern);
std::uint64_t from_float(const Format& format, float value, Rounding rounding = Rounding::nearest_even);
std::uint64_t from_double(const Format& format, double value, Rounding rounding = Rounding::nearest_even);
std::uint32_t bits_of(float value);
std::uint64_t bits_of(double value);
float float_of(std::uint32_t bits);
double double_of(std::uint64_t bits);

}  // namespace tenon::emulator::numerics
