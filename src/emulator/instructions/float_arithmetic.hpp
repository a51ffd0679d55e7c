// IEEE 754 arithmetic on bit patterns in every format and rounding of PTX, and PTX's additions: flushing,
// saturation, its own minimum and maximum, approximate functions. Exact integer arithmetic is rounded once,
// so the host's rounding mode has no effect. Builds on numerics/formats.
//
// NaN: f16, bf16 and f32 results are the format's canonical NaN. f64 keeps sign and payload of a NaN operand,
// made quiet: of two operands the second's; for fma b's before c's before a's; for division the dividend's
// (all measured on an H200). A NaN from numbers is 0xfff8000000000000.
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

// Flips the sign bit, except for a NaN, which any operation treats alike.
Bits absolute(const Format& format, Bits a);
Bits negate(const Format& format, Bits a);

// The outcome of a comparison of two patterns.
enum class Order : std::uint8_t { less, equal, greater, unordered };
Order compare(const Format& format, Bits a, Bits b);

// -0 < +0. For a number and a NaN the number, unless `nan` (.NaN) is set; for two NaNs the canonical one.
Bits minimum(const Format& format, Bits a, Bits b, bool nan);
Bits maximum(const Format& format, Bits a, Bits b, bool nan);

// .sat: to [+0, 1], a NaN to +0. .relu: negative values and -0 to +0; a NaN stays a NaN.
Bits saturate(const Format& format, Bits a);
Bits rectify(const Format& format, Bits a);

// .ftz of a result. Flushes a subnormal result, and a result that only rounds up to the smallest normal
// number because subnormals have fewer bits: with the precision of normal numbers it would round to less
// (measured on an H200). run(format, inputs...) is the operation.
template <class Run, class... Inputs>
Bits flush_result(const Format& format, Bits result, const Run& run, Inputs... inputs) {
  const Bits smallest_normal = Bits{1} << format.fraction_bits;
  if ((result & ~format.sign_bit()) != smallest_normal) return numerics::flush_subnormal(format, result);
  const Format wider{format.exponent_bits + 2, format.fraction_bits};
  const Bits rounded = run(wider, numerics::convert(wider, format, inputs)...) & ~wider.sign_bit();
  const bool is_less = rounded < numerics::convert(wider, format, smallest_normal);
  return is_less ? result & format.sign_bit() : result;
}

// Functions that PTX specifies as approximate (.approx, .full): here the correctly rounded value, computed in
// double precision first. That is within every bound of the PTX ISA, but not bit for bit the hardware's
// result.
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
// div.approx.f32: the quotient, but 0 for 2^126 < |b| < 2^128 (NaN if a is infinite then).
Bits approximate_quotient(Bits a, Bits b);
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 use the upper 32 bits of the argument, so that a NaN with a
// payload only below them becomes an infinity (measured on an H200). The lower 32 bits of the result are 0.
Bits gross_approximation(Function function, Bits a);

}  // namespace tenon::emulator::arithmetic
