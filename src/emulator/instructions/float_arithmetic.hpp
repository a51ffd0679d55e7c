// IEEE 754 arithmetic on bit patterns in every format and rounding PTX has, and what PTX adds to it:
// flushing, saturation, its own minimum and maximum, the approximate functions. Exact integer arithmetic
// rounded once: the host's rounding mode plays no part. Below stands numerics/formats.
//
// NaN: f16, bf16 and f32 results are the format's one canonical NaN. f64 keeps sign and payload of an operand
// that is one, made quiet: of two the second's, of fma's three b's before c's before a's, but of division the
// dividend's (all measured on an H200); a NaN out of numbers is 0xfff8000000000000.
#pragma once

#include <cstdint>

#include "emulator/numerics/formats.hpp"

namespace tenon::emulator::arithmetic {

using numerics::Format;
using numerics::Rounding;
using Bits = std::uint64_t;

// Correctly rounded.
Bits add(const Format& format, Bits a, Bits b, Rounding rounding);
Bits subtract(const Format& format, Bits a, Bits b, Rounding rounding);
Bits multiply(const Format& format, Bits a, Bits b, Rounding rounding);
Bits fused_multiply_add(const Format& format, Bits a, Bits b, Bits c, Rounding rounding);
Bits divide(const Format& format, Bits a, Bits b, Rounding rounding);
Bits square_root(const Format& format, Bits a, Rounding rounding);

// The sign bit changed, but of a NaN, which comes out as any other operation leaves it.
Bits absolute(const Format& format, Bits a);
Bits negate(const Format& format, Bits a);

// What a comparison of two patterns finds.
enum class Order : std::uint8_t { less, equal, greater, unordered };
Order compare(const Format& format, Bits a, Bits b);

// -0 < +0. Of a number and a NaN the number, unless `nan` (.NaN) is set; of two NaNs the canonical one.
Bits minimum(const Format& format, Bits a, Bits b, bool nan);
Bits maximum(const Format& format, Bits a, Bits b, bool nan);

// .sat: into [+0, 1], a NaN to +0.  .relu: negative values, -0 too, to +0, a NaN stays one.
Bits saturate(const Format& format, Bits a);
Bits rectify(const Format& format, Bits a);

// .ftz of a result. A result that is subnormal is flushed, and so is one that only becomes the smallest
// normal number as subnormals have fewer bits: with as many as other numbers it would be rounded to less
// (measured on an H200). run(format, inputs...) is the operation that the result is of.
template <class Run, class... Inputs>
Bits flush_result(const Format& format, Bits result, const Run& run, Inputs... inputs) {
  const Bits smallest_normal = Bits{1} << format.fraction_bits;
  if ((result & ~format.sign_bit()) != smallest_normal) return numerics::flush_subnormal(format, result);
  const Format wider{format.exponent_bits + 2, format.fraction_bits};
  const Bits rounded = run(wider, numerics::convert(wider, format, inputs)...) & ~wider.sign_bit();
  const bool is_less = rounded < numerics::convert(wider, format, smallest_normal);
  return is_less ? result & format.sign_bit() : result;
}

// The functions PTX only asks to be approximate (.approx, .full), here the correctly rounded value (computed
// in double precision first), so within every bound the PTX ISA sets, but not bit for bit what the hardware
// returns.
enum class Function : std::uint8_t {
  reciprocal,
  square_root,
  reciprocal_root,
  sine,
  cosine,
  log2,
  exp2,
  tanh
};
Bits approximate(const Format& format, Function function, Bits a);
// div.approx.f32: as the quotient, but 0 for 2^126 < |b| < 2^128 (NaN, if a is infinite then).
Bits approximate_quotient(Bits a, Bits b);
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: of the upper 32 bits of the argument, which make an infinity
// of a NaN whose payload lies below (measured on an H200); the lower 32 of the result are 0.
Bits gross_approximation(Function function, Bits a);

}  // namespace tenon::emulator::arithmetic
