// Random operands of a matrix instruction for difficult cases: sums that cancel, exponents far apart,
// subnormals, overflow, infinities and NaN. A seed and a set always give the same bits, so that a GPU's
// answers can be stored without the operands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "emulator/numerics/forms.hpp"

namespace tenon::emulator::numerics {

// splitmix64 (Steele, Lea, Flood 2014)
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int below(int bound) { return static_cast<int>((*this)() % static_cast<std::uint64_t>(bound)); }
  bool one_in(int count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

class RandomOperands {
 public:
  static constexpr int characters = 10;  // a set's character is set % characters

  explicit RandomOperands(const NamedForm& named)
      : mma_(named.form),
        is_ordered_(named.is_ordered),
        blocks_(mma_.a().registers() == 2 && named.form.a == ptx::Type::f16 && named.form.shape.m == 8 ? 4
                                                                                                       : 1) {}

  const Mma& mma() const { return mma_; }

  void fill(std::uint64_t seed, std::uint64_t set, Registers& registers) {
    Random random(seed * 0x2545f4914f6cdd1d + set);
    const Form& form = mma_.form();
    const int stored = form.sparse ? form.shape.k / 2 : form.shape.k;
    a_.resize(static_cast<std::size_t>(form.shape.m * blocks_ * stored));
    b_.resize(static_cast<std::size_t>(form.shape.n * blocks_ * form.shape.k));
    c_.resize(static_cast<std::size_t>(form.shape.m * blocks_ * form.shape.n));
    const int character = static_cast<int>(set % characters);
    if (form.c == ptx::Type::s32) {
      integers(character, random);
    } else {
      floats(character, stored, random);
    }
    lay(mma_.a(), a_, stored, false, registers.a);
    lay(mma_.b(), b_, form.shape.k, true, registers.b);
    lay(mma_.c(), c_, form.shape.n, false, registers.c);
    for (std::uint64_t& lane : registers.metadata) lane = metadata(random);
  }

 private:
  using Numbers = std::vector<std::uint64_t>;

  void integers(int character, Random& random) {
    const Form& form = mma_.form();
    for (auto* operand : {&a_, &b_}) {
      const std::uint64_t mask = (1U << element_bits(operand == &a_ ? form.a : form.b)) - 1;
      for (std::uint64_t& x : *operand) {
        x = random() & mask;
        if (character % 3 == 1)
          x = random.one_in(2) ? mask >> 1 : mask ^ (mask >> 1);  // the ends of the range
      }
    }
    for (std::uint64_t& x : c_) {
      x = random() & 0xffffffff;
      if (character % 2 == 1)
        x = (random() & 0x80000000) ^ 0x7fffffff ^ (random() & 0xffff);  // near the ends
    }
  }

  // A finite number with an exponent in [low, high], subnormal below the format's range.
  static std::uint64_t number(const Format& format, int low, int high, Random& random) {
    const int exponent = low + random.below(high - low + 1);
    const int top = format.maximum_exponent() - (format.has_infinity ? 0 : 1);
    const auto biased =
        static_cast<std::uint64_t>(std::clamp(exponent, format.minimum_exponent() - 1, top) + format.bias());
    const int field = format.fraction_bits + format.padding_bits;
    const std::uint64_t sign_and_rest = random() & (format.sign_bit() | ((std::uint64_t{1} << field) - 1));
    return sign_and_rest | biased << field;
  }

  // An infinity, a NaN, the largest number or a zero.
  static std::uint64_t special(const Format& format, Random& random) {
    const std::uint64_t sign = random() & format.sign_bit();
    switch (random.below(5)) {
      case 0:
        return sign | (format.has_infinity ? format.infinity() : format.nan());
      case 1:
        return sign | format.infinity() | (random() & (format.sign_bit() - 1));  // mostly a NaN
      case 2:
        return sign | format.largest();
      case 3:
        return sign | format.nan();
      default:
        return sign;
    }
  }

  void floats(int character, int stored, Random& random) {
    const Form& form = mma_.form();
    const Format &fa = format_of(form.a), &fb = format_of(form.b), &fc = format_of(form.c);
    const int whole = std::min(fa.maximum_exponent(), fb.maximum_exponent());
    // Exponents of A and B are around `center`, `spread` on each side; those of C around the products'.
    int center = 0, spread = random.below(8), below_c = 30, above_c = 6;
    bool cancels = false;
    int specials = 0, zeros = 24;  // one in so many
    switch (character) {
      case 0:
        spread = whole + 1;
        break;  // anything
      case 1:
        break;  // close together
      case 2:
        cancels = true;
        break;  // and cancelling
      case 3:
        center = fa.minimum_exponent(), spread = 2;
        break;  // subnormals
      case 4:
        center = whole, spread = 2;
        break;  // overflow
      case 5:
        specials = 40;
        break;  // infinities and NaN
      case 6:
        zeros = 1 + random.below(3);
        break;  // mostly zeros
      case 7:
        spread = 14, cancels = true;
        break;  // far apart and cancelling
      case 8:
        spread = 12;
        break;  // far apart
      default:  // products at the edge of the result's range
        center = (random.one_in(2) ? fc.minimum_exponent() - 8 : fc.maximum_exponent()) / 2;
        spread = 6;
    }
    const auto draw = [&](const Format& format) {
      if (specials != 0 && random.one_in(specials)) return special(format, random);
      if (random.one_in(zeros)) return random() & format.sign_bit();
      return number(format, center - spread, center + spread, random);
    };
    for (std::uint64_t& x : a_) x = draw(fa);
    for (std::uint64_t& x : b_) x = draw(fb);
    for (std::uint64_t& x : c_) {
      const int around = std::clamp(2 * center, fc.minimum_exponent(), fc.maximum_exponent());
      x = number(fc, around - below_c, around + above_c, random);
      if (specials != 0 && random.one_in(specials)) x = special(fc, random);
      if (random.one_in(8)) x = random() & fc.sign_bit();
      if (random.one_in(16)) x = number(fc, fc.minimum_exponent() - 1, fc.maximum_exponent(), random);
    }
    if (cancels) {
      mirror(a_, stored, fa.sign_bit(), random);
      mirror(b_, form.shape.k, 0, random);
    }
  }

  // Reverses the first half of each row into the second, applies `flip`, and changes a few last bits.
  static void mirror(Numbers& numbers, int row_length, std::uint64_t flip, Random& random) {
    for (std::size_t first = 0; first < numbers.size(); first += static_cast<std::size_t>(row_length)) {
      for (int i = 0; i < row_length / 2; ++i) {
        std::uint64_t& to = numbers[first + static_cast<std::size_t>(row_length - 1 - i)];
        to = numbers[first + static_cast<std::size_t>(i)] ^ flip;
        if (random.one_in(6)) to ^= 1;
      }
    }
  }

  // Two distinct indices of four; in increasing order if the form requires it.
  std::uint64_t metadata(Random& random) const {
    std::uint64_t bits = 0;
    for (int group = 0; group < 8; ++group) {
      std::uint64_t first = random() % 4, second = (first + 1 + random() % 3) % 4;
      if (is_ordered_ && first > second) std::swap(first, second);
      if (mma_.form().a == ptx::Type::tf32) first = 2 * (random() % 2), second = first + 1;
      bits |= (first | second << 2) << (4 * group);
    }
    return bits;
  }

  static void lay(const Fragment& fragment, const Numbers& numbers, int row_length, bool by_columns,
                  std::uint64_t (*registers)[32]) {
    for (int lane = 0; lane < Fragment::lanes; ++lane) {
      for (int reg = 0; reg < fragment.registers(); ++reg) {
        std::uint64_t value = 0;
        for (int element = 0; element < fragment.elements(); ++element) {
          const Coord at = fragment.at(lane, reg, element);
          const int position = by_columns ? at.column * row_length + at.row : at.row * row_length + at.column;
          value |= numbers[static_cast<std::size_t>(position)] << (fragment.element_bits() * element);
        }
        registers[reg][lane] = value;
      }
    }
  }

  Mma mma_;
  bool is_ordered_;
  int blocks_;
  Numbers a_, b_, c_;
};

}  // namespace tenon::emulator::numerics
