// The tensor core's dot product: a group of products and the accumulator are aligned to their largest
// exponent, truncated toward zero a fixed number of bits below it, summed exactly, and rounded once. Also the
// exact sum for the model `ieee`, and f64.
//
// Operands are decoded once per matrix, not once per product: see Factors.
#pragma once

#include <cstdint>

#include "emulator/numerics/formats.hpp"
#include "emulator/numerics/model.hpp"

namespace tenon::emulator::numerics {

// The decoded numbers of one operand: value = significand * 2^(exponent - 10). Every input format has at most
// 10 fraction bits. A subnormal keeps the format's smallest exponent, as the hardware leaves it unnormalised.
// Number i of row r of A (column r of B) is at [r * k + i].
struct Factors {
  static constexpr int capacity = 256 * 32;  // wgmma's B: n = 256 columns, k = 32
  std::int32_t significand[capacity];
  std::int32_t exponent[capacity];

  void set(const Format& format, const std::uint32_t* patterns, int count);  // the first `count` numbers
};

// c + sum over i < count of a[a_first + i] * b[b_first + i], as patterns of the result's type.
std::uint32_t dot_product(const Arithmetic& arithmetic, const Factors& a, int a_first, const Factors& b,
                          int b_first, int count, std::uint32_t c);

// The same in f64: fused multiply-adds in order of i, each rounded as requested, which propagate the payload
// of a NaN (`ieee`: one rounding at the end, and every NaN is f64.nan()).
std::uint64_t dot_product_f64(Model model, Rounding rounding, const std::uint64_t* a, const std::uint64_t* b,
                              int count, std::uint64_t c);

// c + sum in integers: wrapped to 32 bits, or clamped to them (.satfinite).
std::uint32_t integer_result(std::int64_t sum, std::uint32_t c, bool saturate);

}  // namespace tenon::emulator::numerics
