#include "emulator/numerics/formats.hpp"

#include <cstring>

namespace tenon::emulator::numerics {
namespace {

constexpr std::uint64_t one = 1;

// significand / 2^shift rounded to an integer; `more` stands for a part below the significand.
std::uint64_t round_shift(std::uint64_t significand, int shift, bool negative, Rounding rounding, bool more) {
  if (shift <= 0) return significand << -shift;
  const std::uint64_t kept = shift < 64 ? significand >> shift : 0;
  const std::uint64_t rest = shift < 64 ? significand & ((one << shift) - 1) : significand;
  if (rest == 0 && !more) return kept;
  // Compares the rest with one half: -1, 0, 1.
  int half = -1;
  if (shift <= 64) {
    const std::uint64_t middle = one << (shift - 1);
    half = rest > middle || (rest == middle && more) ? 1 : rest == middle ? 0 : -1;
  }
  bool away = false;
  switch (rounding) {
    case Rounding::nearest_even:
      away = half > 0 || (half == 0 && (kept & 1) != 0);
      break;
    case Rounding::nearest_away:
      away = half >= 0;
      break;
    case Rounding::to_zero:
      away = false;
      break;
    case Rounding::down:
      away = negative;
      break;
    case Rounding::up:
      away = !negative;
      break;
  }
  return kept + (away ? 1 : 0);
}

bool leads_away_from_zero(Rounding rounding, bool negative) {
  switch (rounding) {
    case Rounding::to_zero:
      return false;
    case Rounding::down:
      return negative;
    case Rounding::up:
      return !negative;
    default:
      return true;
  }
}

std::uint64_t mask(int width) {
  return width == 64 ? ~std::uint64_t{0} : (one << width) - 1;
}

}  // namespace

int highest_bit(std::uint64_t value) {
  return 63 - __builtin_clzll(value);
}

Number decode(const Format& format, std::uint64_t pattern) {
  Number number;
  number.negative = (pattern & format.sign_bit()) != 0;
  const std::uint64_t fraction = (pattern >> format.padding_bits) & ((one << format.fraction_bits) - 1);
  const auto exponent = static_cast<int>((pattern >> (format.fraction_bits + format.padding_bits)) &
                                         ((one << format.exponent_bits) - 1));
  const int top = (1 << format.exponent_bits) - 1;
  if (exponent == top && format.has_infinity) {
    // A tf32 register is an f32 register: bits in the padding alone make no NaN for an instruction that reads
    // tf32.
    number.kind = fraction != 0 ? Number::Kind::nan : Number::Kind::infinity;
  } else if (exponent == top && fraction == (one << format.fraction_bits) - 1) {
    number.kind = Number::Kind::nan;
  } else if (exponent == 0 && fraction == 0) {
    number.kind = Number::Kind::zero;
  } else {
    number.kind = Number::Kind::finite;
    number.significand = exponent == 0 ? fraction : fraction | (one << format.fraction_bits);
    number.exponent = (exponent == 0 ? 1 : exponent) - format.bias() - format.fraction_bits;
  }
  return number;
}

std::uint64_t encode(const Format& format, const Number& number, Rounding rounding, Overflow overflow,
                     bool more) {
  const std::uint64_t sign = number.negative ? format.sign_bit() : 0;
  const std::uint64_t beyond = format.has_infinity ? format.infinity() : format.nan();
  switch (number.kind) {
    case Number::Kind::nan:
      return format.nan();
    case Number::Kind::infinity:
      return sign | (overflow == Overflow::saturate ? format.largest() : beyond);
    case Number::Kind::zero:
      return sign;
    case Number::Kind::finite:
      break;
  }
  // The unit in the last place: of the value's own binade, but not below that of subnormals.
  const int leading = number.exponent + highest_bit(number.significand);
  int unit =
      (leading < format.minimum_exponent() ? format.minimum_exponent() : leading) - format.fraction_bits;
  std::uint64_t significand =
      round_shift(number.significand, unit - number.exponent, number.negative, rounding, more);
  if (significand >> (format.fraction_bits + 1) != 0) {  // rounded up to the next power of two
    significand >>= 1;
    ++unit;
  }
  const bool subnormal = significand >> format.fraction_bits == 0;
  const int biased = subnormal ? 0 : unit + format.fraction_bits + format.bias();
  const std::uint64_t magnitude = biased > format.maximum_exponent() + format.bias()
                                      ? beyond
                                      : ((static_cast<std::uint64_t>(biased) << format.fraction_bits) |
                                         (significand & ((one << format.fraction_bits) - 1)))
                                            << format.padding_bits;
  if (magnitude > format.largest()) {
    const bool largest = overflow == Overflow::saturate || !leads_away_from_zero(rounding, number.negative);
    return sign | (largest ? format.largest() : beyond);
  }
  return sign | magnitude;
}

std::uint64_t convert(const Format& to, const Format& from, std::uint64_t pattern, Rounding rounding,
                      Overflow overflow) {
  const Number number = decode(from, pattern);
  if (number.kind == Number::Kind::nan && to.fraction_bits == f64.fraction_bits) {
    const std::uint64_t payload = (pattern >> from.padding_bits) & mask(from.fraction_bits);
    return (number.negative ? to.sign_bit() : 0) | to.infinity() |
           (payload << (to.fraction_bits - from.fraction_bits));
  }
  return encode(to, number, rounding, overflow);
}

std::uint64_t flush_subnormal(const Format& format, std::uint64_t pattern) {
  return (pattern & format.infinity()) == 0 ? pattern & format.sign_bit() : pattern;
}

bool is_nan(const Format& format, std::uint64_t pattern) {
  return decode(format, pattern).kind == Number::Kind::nan;
}

std::uint64_t round_to_integer(const Format& format, std::uint64_t pattern, Rounding rounding) {
  Number number = decode(format, pattern);
  if (number.kind == Number::Kind::nan) return format.nan();
  if (number.kind != Number::Kind::finite || number.exponent >= 0) return pattern;
  number.significand = round_shift(number.significand, -number.exponent, number.negative, rounding, false);
  number.exponent = 0;
  if (number.significand == 0) number.kind = Number::Kind::zero;
  return encode(format, number);
}

std::uint64_t to_integer(const Format& format, std::uint64_t pattern, Rounding rounding, int width,
                         bool is_signed) {
  const Number number = decode(format, pattern);
  if (number.kind == Number::Kind::zero) return 0;
  if (number.kind == Number::Kind::nan) {
    return format.fraction_bits == f64.fraction_bits || width == 64 ? one << (width - 1) : 0;
  }
  const std::uint64_t limit =  // of the magnitude
      number.negative ? (is_signed ? one << (width - 1) : 0) : mask(is_signed ? width - 1 : width);
  std::uint64_t magnitude = limit;
  if (number.kind == Number::Kind::finite && number.exponent + highest_bit(number.significand) < 64) {
    magnitude = round_shift(number.significand, -number.exponent, number.negative, rounding, false);
    if (magnitude > limit) magnitude = limit;
  }
  return (number.negative ? std::uint64_t{0} - magnitude : magnitude) & mask(width);
}

std::uint64_t from_integer(const Format& format, std::uint64_t integer, int width, bool is_signed,
                           Rounding rounding, Overflow overflow) {
  integer &= mask(width);
  Number number;
  number.negative = is_signed && (integer >> (width - 1)) != 0;
  number.significand = number.negative ? (std::uint64_t{0} - integer) & mask(width) : integer;
  if (number.significand == 0) return 0;
  number.kind = Number::Kind::finite;
  return encode(format, number, rounding, overflow);
}

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
double double_of(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float to_float(const Format& format, std::uint64_t pattern) {
  return float_of(static_cast<std::uint32_t>(convert(f32, format, pattern)));
}
double to_double(const Format& format, std::uint64_t pattern) {
  return double_of(convert(f64, format, pattern));
}
std::uint64_t from_float(const Format& format, float value, Rounding rounding) {
  return convert(format, f32, bits_of(value), rounding);
}
std::uint64_t from_double(const Format& format, double value, Rounding rounding) {
  return convert(format, f64, bits_of(value), rounding);
}

}  // namespace tenon::emulator::numerics
