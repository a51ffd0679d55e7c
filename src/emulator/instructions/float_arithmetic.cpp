#include "emulator/instructions/float_arithmetic.hpp"

#include <cmath>

namespace tenon::emulator::arithmetic {
namespace {

using numerics::decode;
using numerics::encode;
using numerics::Number;
using Kind = Number::Kind;

constexpr Bits one = 1;

bool is_f64(const Format& format) {
  return format.fraction_bits == numerics::f64.fraction_bits;
}

Bits quiet(const Format& format, Bits nan) {
  return nan | one << (format.fraction_bits - 1);
}

// The NaN result of an operation on numbers.
Bits invalid(const Format& format) {
  return is_f64(format) ? format.sign_bit() | quiet(format, format.infinity()) : format.nan();
}

// The NaN result of an operation with at least one NaN operand: the first NaN in the given order.
template <class... Rest>
Bits propagate(const Format& format, Bits first, Rest... rest) {
  if (!is_f64(format)) return format.nan();
  if constexpr (sizeof...(rest) == 0) {
    return quiet(format, first);
  } else {
    return numerics::is_nan(format, first) ? quiet(format, first) : propagate(format, rest...);
  }
}

Bits infinity(const Format& format, bool negative) {
  return (negative ? format.sign_bit() : 0) | format.infinity();
}
Bits zero(const Format& format, bool negative) {
  return negative ? format.sign_bit() : 0;
}

// (high:low) * 2^exponent, plus a nonzero rest below that if `more`. 128 bits are enough to add the product
// of two f64 to a third and to decide on which side of every rounding boundary the sum is.
struct Wide {
  bool negative = false;
  int exponent = 0;
  std::uint64_t high = 0, low = 0;
  bool more = false;
};

bool is_zero(const Wide& wide) {
  return wide.high == 0 && wide.low == 0;
}

void shift_left(Wide& wide, int count) {
  wide.exponent -= count;
  if (count >= 64) {
    wide.high = wide.low;
    wide.low = 0;
    count -= 64;
  }
  if (count == 0) return;
  wide.high = wide.high << count | wide.low >> (64 - count);
  wide.low <<= count;
}

// `more` records the bits that are shifted out.
void shift_right(Wide& wide, int count) {
  wide.exponent += count;
  if (count >= 128) {
    wide.more |= !is_zero(wide);
    wide.high = wide.low = 0;
    return;
  }
  if (count >= 64) {
    wide.more |= wide.low != 0;
    wide.low = wide.high;
    wide.high = 0;
    count -= 64;
  }
  if (count == 0) return;
  wide.more |= wide.low << (64 - count) != 0;
  wide.low = wide.low >> count | wide.high << (64 - count);
  wide.high >>= count;
}

// The highest set bit becomes bit 126: one bit is left for a carry.
void normalize(Wide& wide) {
  const int top = wide.high != 0 ? 64 + numerics::highest_bit(wide.high) : numerics::highest_bit(wide.low);
  if (top < 126) shift_left(wide, 126 - top);
  if (top > 126) shift_right(wide, top - 126);
}

Wide wide(const Number& number) {
  return {number.negative, number.exponent, 0, number.significand, false};
}

Wide product(const Number& a, const Number& b) {
  const std::uint64_t low_half = 0xffffffff;
  const std::uint64_t a0 = a.significand & low_half, a1 = a.significand >> 32;
  const std::uint64_t b0 = b.significand & low_half, b1 = b.significand >> 32;
  const std::uint64_t middle = (a0 * b0 >> 32) + (a0 * b1 & low_half) + a1 * b0;
  Wide result;
  result.negative = a.negative != b.negative;
  result.exponent = a.exponent + b.exponent;
  result.low = middle << 32 | (a0 * b0 & low_half);
  result.high = a1 * b1 + (a0 * b1 >> 32) + (middle >> 32);
  return result;
}

// Neither is 0. If the sum is 0, the caller decides its sign.
Wide sum(Wide a, Wide b) {
  normalize(a);
  normalize(b);
  const bool a_smaller = a.exponent != b.exponent ? a.exponent < b.exponent
                         : a.high != b.high       ? a.high < b.high
                                                  : a.low < b.low;
  if (a_smaller) std::swap(a, b);
  shift_right(b, a.exponent - b.exponent);
  if (a.negative == b.negative) {
    a.low += b.low;
    a.high += b.high + (a.low < b.low ? 1 : 0);
  } else {
    // a - (b + rest) = (a - b - 1) + (1 - rest)
    const std::uint64_t borrow = b.more ? 1 : 0;
    const std::uint64_t low = a.low - b.low - borrow;
    a.high -= b.high + (a.low < b.low || (a.low == b.low && borrow != 0) ? 1 : 0);
    a.low = low;
  }
  a.more = b.more;
  return a;
}

Bits round(const Format& format, Wide value, Rounding rounding) {
  normalize(value);
  Number number;
  number.kind = Kind::finite;
  number.negative = value.negative;
  number.exponent = value.exponent + 64;
  number.significand = value.high;
  return encode(format, number, rounding, numerics::Overflow::infinity, value.more || value.low != 0);
}

// x + y of numbers, x a product or a number. Infinities and zeros, which have no Wide, are handled first.
Bits round_sum(const Format& format, Kind x_kind, const Wide& x, const Number& y, Rounding rounding) {
  if (x_kind == Kind::infinity || y.kind == Kind::infinity) {
    if (x_kind == y.kind && x.negative != y.negative) return invalid(format);
    return infinity(format, x_kind == Kind::infinity ? x.negative : y.negative);
  }
  if (x_kind == Kind::zero && y.kind == Kind::zero) {
    return zero(format, x.negative == y.negative ? x.negative : rounding == Rounding::down);
  }
  if (x_kind == Kind::zero) return encode(format, y, rounding);
  if (y.kind == Kind::zero) return round(format, x, rounding);
  const Wide total = sum(x, wide(y));
  if (is_zero(total) && !total.more) return zero(format, rounding == Rounding::down);
  return round(format, total, rounding);
}

Kind product_kind(const Number& a, const Number& b) {
  if (a.kind == Kind::nan || b.kind == Kind::nan) return Kind::nan;
  if (a.kind == Kind::infinity || b.kind == Kind::infinity) {
    return a.kind == Kind::zero || b.kind == Kind::zero ? Kind::nan : Kind::infinity;
  }
  return a.kind == Kind::zero || b.kind == Kind::zero ? Kind::zero : Kind::finite;
}

}  // namespace

Bits add(const Format& format, Bits a, Bits b, Rounding rounding) {
  const Number x = decode(format, a), y = decode(format, b);
  if (x.kind == Kind::nan || y.kind == Kind::nan) return propagate(format, b, a);
  return round_sum(format, x.kind, wide(x), y, rounding);
}

Bits subtract(const Format& format, Bits a, Bits b, Rounding rounding) {
  if (numerics::is_nan(format, a) || numerics::is_nan(format, b)) return propagate(format, b, a);
  return add(format, a, b ^ format.sign_bit(), rounding);
}

Bits multiply(const Format& format, Bits a, Bits b, Rounding rounding) {
  const Number x = decode(format, a), y = decode(format, b);
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::nan || y.kind == Kind::nan) return propagate(format, b, a);
  switch (product_kind(x, y)) {
    case Kind::nan:
      return invalid(format);
    case Kind::infinity:
      return infinity(format, negative);
    case Kind::zero:
      return zero(format, negative);
    case Kind::finite:
      break;
  }
  return round(format, product(x, y), rounding);
}

Bits fused_multiply_add(const Format& format, Bits a, Bits b, Bits c, Rounding rounding) {
  const Number x = decode(format, a), y = decode(format, b), z = decode(format, c);
  if (x.kind == Kind::nan || y.kind == Kind::nan || z.kind == Kind::nan) {
    return propagate(format, b, c, a);
  }
  const Kind kind = product_kind(x, y);
  if (kind == Kind::nan) return invalid(format);
  return round_sum(format, kind, product(x, y), z, rounding);
}

Bits divide(const Format& format, Bits a, Bits b, Rounding rounding) {
  const Number x = decode(format, a), y = decode(format, b);
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::nan || y.kind == Kind::nan) return propagate(format, a, b);
  if (x.kind == y.kind && x.kind != Kind::finite) return invalid(format);
  if (x.kind == Kind::infinity || y.kind == Kind::zero) return infinity(format, negative);
  if (x.kind == Kind::zero || y.kind == Kind::infinity) return zero(format, negative);
  // Long division with both significands shifted to bit 62: the first digit may be 0, the other 63 are
  // enough.
  const int x_shift = 62 - numerics::highest_bit(x.significand);
  const int y_shift = 62 - numerics::highest_bit(y.significand);
  std::uint64_t rest = x.significand << x_shift;
  const std::uint64_t divisor = y.significand << y_shift;
  Number quotient;
  quotient.kind = Kind::finite;
  quotient.negative = negative;
  quotient.exponent = (x.exponent - x_shift) - (y.exponent - y_shift) - 63;
  for (int digit = 0; digit < 64; ++digit) {
    const bool fits = rest >= divisor;
    quotient.significand = quotient.significand << 1 | (fits ? 1 : 0);
    if (fits) rest -= divisor;
    rest <<= 1;
  }
  return encode(format, quotient, rounding, numerics::Overflow::infinity, rest != 0);
}

Bits square_root(const Format& format, Bits a, Rounding rounding) {
  const Number x = decode(format, a);
  if (x.kind == Kind::nan) return propagate(format, a);
  if (x.kind == Kind::zero) return a;
  if (x.negative) return invalid(format);
  if (x.kind == Kind::infinity) return a;
  // The host's root is correctly rounded to nearest, but may be above the true root. The sign of x - root^2,
  // which is exact, tells the largest double not above it.
  const double nearest = std::sqrt(numerics::to_double(format, a));
  if (is_f64(format) && rounding == Rounding::nearest_even) return numerics::bits_of(nearest);
  Number root = decode(numerics::f64, numerics::bits_of(nearest));
  Wide square = product(root, root);
  square.negative = true;
  const Wide residual = sum(square, wide(x));
  const bool exact = is_zero(residual) && !residual.more;
  if (!exact && residual.negative) {
    root = decode(numerics::f64, numerics::bits_of(std::nextafter(nearest, 0.0)));
  }
  // Two bits below the root's last place, as encode requires for `more`. For f64 the rest may be any part of
  // that place, which does not affect the directed roundings.
  root.significand <<= 2;
  root.exponent -= 2;
  return encode(format, root, rounding, numerics::Overflow::infinity, !exact);
}

Bits absolute(const Format& format, Bits a) {
  return numerics::is_nan(format, a) ? propagate(format, a) : a & ~format.sign_bit();
}

Bits negate(const Format& format, Bits a) {
  return numerics::is_nan(format, a) ? propagate(format, a) : a ^ format.sign_bit();
}

Order compare(const Format& format, Bits a, Bits b) {
  if (numerics::is_nan(format, a) || numerics::is_nan(format, b)) return Order::unordered;
  const auto rank = [&](Bits bits) {  // sign and magnitude as an integer; both zeros are 0
    const auto magnitude = static_cast<std::int64_t>(bits & ~format.sign_bit());
    return (bits & format.sign_bit()) != 0 ? -magnitude : magnitude;
  };
  const std::int64_t x = rank(a), y = rank(b);
  return x < y ? Order::less : x > y ? Order::greater : Order::equal;
}

namespace {

// The smaller of two patterns, or the larger.
Bits extreme(const Format& format, Bits a, Bits b, bool nan, bool larger) {
  const bool a_nan = numerics::is_nan(format, a), b_nan = numerics::is_nan(format, b);
  if (a_nan && b_nan) return is_f64(format) ? quiet(format, b) : format.nan();
  if (a_nan || b_nan) return nan ? format.nan() : a_nan ? b : a;
  const Order order = compare(format, a, b);
  if (order == Order::equal) {  // equal, or zeros of either sign
    const bool negative = larger ? (a & b & format.sign_bit()) != 0 : ((a | b) & format.sign_bit()) != 0;
    return (a & ~format.sign_bit()) | (negative ? format.sign_bit() : 0);
  }
  return (order == Order::less) != larger ? a : b;
}

}  // namespace

Bits minimum(const Format& format, Bits a, Bits b, bool nan) {
  return extreme(format, a, b, nan, false);
}
Bits maximum(const Format& format, Bits a, Bits b, bool nan) {
  return extreme(format, a, b, nan, true);
}

Bits saturate(const Format& format, Bits a) {
  const Bits unit = static_cast<Bits>(format.bias()) << (format.fraction_bits + format.padding_bits);
  if (numerics::is_nan(format, a) || (a & format.sign_bit()) != 0) return 0;
  return a < unit ? a : unit;
}

Bits rectify(const Format& format, Bits a) {
  if (numerics::is_nan(format, a)) return format.nan();
  return (a & format.sign_bit()) != 0 ? 0 : a;
}

Bits approximate(const Format& format, Function function, Bits a) {
  const Number number = decode(format, a);
  if (number.kind == Kind::nan) return propagate(format, a);
  const double x = numerics::to_double(format, a);
  double result = 0;
  switch (function) {
    case Function::reciprocal:
      return divide(format, numerics::from_double(format, 1.0), a, Rounding::nearest_even);
    case Function::square_root:
      return square_root(format, a, Rounding::nearest_even);
    case Function::reciprocal_root:
      if (number.kind == Kind::zero) return infinity(format, number.negative);
      result = 1.0 / std::sqrt(x);
      break;
    case Function::sine:
    case Function::cosine: {
      // The ISA bounds the error within [-2 pi, 2 pi] only. Beyond, this follows the hardware's argument
      // reduction: a product with f32(1 / (2 pi)), rounded to zero, counts the turns.
      const Bits per_turn = 0x3e22f983;
      const double two_pi = 6.283185307179586476925;
      const double turns = numerics::to_double(format, multiply(format, a, per_turn, Rounding::to_zero));
      const double angle = two_pi * std::remainder(turns, 1.0);
      result = function == Function::sine ? std::sin(angle) : std::cos(angle);
      break;
    }
    case Function::log2:
      if (number.kind == Kind::zero) return infinity(format, true);
      result = std::log2(x);
      break;
    case Function::exp2:
      result = std::exp2(x);
      break;
    case Function::tanh:
      result = std::tanh(x);
      break;
  }
  if (std::isnan(result)) return invalid(format);
  return numerics::from_double(format, result);
}

Bits approximate_quotient(Bits a, Bits b) {
  const Format& format = numerics::f32;
  const Bits magnitude = b & ~format.sign_bit();
  const bool beyond = magnitude > 0x7e800000 && magnitude < format.infinity();  // 2^126
  return beyond ? multiply(format, a, b & format.sign_bit(), Rounding::nearest_even)
                : divide(format, a, b, Rounding::nearest_even);
}

Bits gross_approximation(Function function, Bits a) {
  const Format& format = numerics::f64;
  const Bits upper = 0xffffffff00000000;
  const Bits result = approximate(format, function, numerics::flush_subnormal(format, a & upper));
  if (numerics::is_nan(format, result)) return format.nan() & upper;
  return numerics::flush_subnormal(format, result) & upper;
}

}  // namespace tenon::emulator::arithmetic
