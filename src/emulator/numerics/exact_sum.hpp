// A sum without rounding: one long fixed-point number that spans the whole exponent range of its terms
// (Kulisch). It is the reference (`ieee`) for the tensor core's truncating sum, and the basis of f64's
// directed roundings.
#pragma once

#include <array>
#include <cstdint>

#include "emulator/numerics/formats.hpp"

namespace tenon::emulator::numerics {

// Holds terms significand * 2^exponent with significand < 2^64 and exponent >= lowest, and sums below
// 2^(lowest + 64 * words - 2) in magnitude.
template <int words>
class ExactSum {
 public:
  explicit ExactSum(int lowest) : lowest_(lowest) {}

  void add(bool negative, std::uint64_t significand, int exponent) {
    const int offset = exponent - lowest_, word = offset / 64, shift = offset % 64;
    const std::uint64_t low = significand << shift;
    const std::uint64_t high = shift == 0 ? 0 : significand >> (64 - shift);
    if (negative) {
      subtract_at(word, low);
      subtract_at(word + 1, high);
    } else {
      add_at(word, low);
      add_at(word + 1, high);
    }
  }

  // The product of two finite numbers.
  void add_product(const Number& a, const Number& b) {
    constexpr std::uint64_t low_half = 0xffffffff;
    const bool negative = a.negative != b.negative;
    const int exponent = a.exponent + b.exponent;
    add(negative, (a.significand & low_half) * (b.significand & low_half), exponent);
    add(negative, (a.significand & low_half) * (b.significand >> 32), exponent + 32);
    add(negative, (a.significand >> 32) * (b.significand & low_half), exponent + 32);
    add(negative, (a.significand >> 32) * (b.significand >> 32), exponent + 64);
  }

  // The single rounding. A sum of 0 is a zero of the requested sign.
  std::uint64_t round(const Format& format, Rounding rounding, bool negative_zero = false) const {
    Number number;
    number.negative = (value_[words - 1] >> 63) != 0;
    std::array<std::uint64_t, words> magnitude = value_;
    if (number.negative) {
      bool carry = true;
      for (std::uint64_t& word : magnitude) {
        word = ~word + (carry ? 1 : 0);
        carry = carry && word == 0;
      }
    }
    int top = words - 1;
    while (top >= 0 && magnitude[top] == 0) --top;
    if (top < 0) {
      number.negative = negative_zero;
      return encode(format, number);
    }
    number.kind = Number::Kind::finite;
    const int high = highest_bit(magnitude[top]);
    // The 64 bits from the highest down; of the bits below, only whether any is set.
    bool more = false;
    number.exponent = lowest_ + 64 * top + high - 63;
    number.significand = magnitude[top] << (63 - high);
    if (top > 0) {
      if (high < 63) number.significand |= magnitude[top - 1] >> (high + 1);
      more = high == 63 ? magnitude[top - 1] != 0 : (magnitude[top - 1] << (63 - high)) != 0;
      for (int word = 0; word < top - 1; ++word) more = more || magnitude[word] != 0;
    }
    return encode(format, number, rounding, Overflow::infinity, more);
  }

 private:
  void add_at(int word, std::uint64_t addend) {
    for (; word < words && addend != 0; ++word) {
      value_[word] += addend;
      addend = value_[word] < addend ? 1 : 0;
    }
  }
  void subtract_at(int word, std::uint64_t subtrahend) {
    for (; word < words && subtrahend != 0; ++word) {
      const bool borrow = value_[word] < subtrahend;
      value_[word] -= subtrahend;
      subtrahend = borrow ? 1 : 0;
    }
  }

  int lowest_;
  std::array<std::uint64_t, words> value_{};  // two's complement, lowest word first
};

// Products of f64 values span 2^-2148 to 2^2048, those of all narrower formats 2^-298 to 2^256.
constexpr int f64_sum_words = 68, f64_sum_lowest = -2148;
constexpr int f32_sum_words = 11, f32_sum_lowest = -298;

// a * b + c with one rounding, in any format: fma, for every rounding, with IEEE 754's zeros and infinities.
// A NaN is format.nan().
std::uint64_t fused_multiply_add(const Format& format, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                 Rounding rounding);

}  // namespace tenon::emulator::numerics
