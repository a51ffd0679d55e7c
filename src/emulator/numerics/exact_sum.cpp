#include "emulator/numerics/exact_sum.hpp"

namespace tenon::emulator::numerics {

std::uint64_t fused_multiply_add(const Format& format, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                 Rounding rounding) {
  using Kind = Number::Kind;
  const Number x = decode(format, a), y = decode(format, b), z = decode(format, c);
  const bool infinite = x.kind == Kind::infinity || y.kind == Kind::infinity;
  const bool zero = x.kind == Kind::zero || y.kind == Kind::zero;
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::nan || y.kind == Kind::nan || z.kind == Kind::nan || (infinite && zero) ||
      (infinite && z.kind == Kind::infinity && z.negative != negative)) {
    return format.nan();
  }
  if (infinite) return format.infinity() | (negative ? format.sign_bit() : 0);
  if (z.kind == Kind::infinity) return c;
  const auto rounded = [&](auto sum) {
    if (!zero) sum.add_product(x, y);
    if (z.kind == Kind::finite) sum.add(z.negative, z.significand, z.exponent);
    const bool both_zero = zero && z.kind == Kind::zero && negative == z.negative;
    return sum.round(format, rounding, both_zero ? negative : rounding == Rounding::down);
  };
  if (format.exponent_bits > f32.exponent_bits) return rounded(ExactSum<f64_sum_words>(f64_sum_lowest));
  return rounded(ExactSum<f32_sum_words>(f32_sum_lowest));
}

}  // namespace tenon::emulator::numerics
