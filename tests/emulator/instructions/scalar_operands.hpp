// Operands for the cases of scalar_cases.hpp, equal in every run: all pairs of edge cases, then random bits
// of several characters. And the criterion for agreement.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "emulator/instructions/operands.hpp"
#include "emulator/instructions/scalar_cases.hpp"

namespace tenon::emulator::testing {

// Of the elements of a floating-point kind.
inline const numerics::Format* format_of_kind(Kind kind) {
  switch (kind) {
    case Kind::f16:
    case Kind::f16x2:
      return &numerics::f16;
    case Kind::bf16:
    case Kind::bf16x2:
      return &numerics::bf16;
    case Kind::f32:
      return &numerics::f32;
    case Kind::f64:
      return &numerics::f64;
    case Kind::e4m3x2:
      return &numerics::e4m3;
    case Kind::e5m2x2:
      return &numerics::e5m2;
    default:
      return nullptr;
  }
}
inline bool is_pair(Kind kind) {
  return kind == Kind::f16x2 || kind == Kind::bf16x2 || kind == Kind::e4m3x2 || kind == Kind::e5m2x2;
}

class OperandSource {
 public:
  explicit OperandSource(std::uint64_t seed) : random_(seed) {}

  // The operands of one thread.
  std::vector<Bits> operator()(const std::vector<Kind>& kinds, std::size_t thread) {
    std::vector<Bits> operands;
    for (std::size_t i = 0; i < kinds.size(); ++i) operands.push_back(operand(kinds[i], i, thread));
    return operands;
  }

 private:
  Bits operand(Kind kind, std::size_t position, std::size_t thread) {
    const numerics::Format* format = format_of_kind(kind);
    if (format == nullptr) {
      if (kind == Kind::pred) return random_() & 1;
      if (kind == Kind::count && thread % 4 != 3) return random_() % 72;
      if (kind == Kind::count) return random_() & (random_() % 2 != 0 ? 0x1ff : 0xffffffff);
      return corner(integer_corners(), position, thread, [&] { return small_or_any(); });
    }
    const std::vector<Bits>& corners = corners_of(kind, *format);
    const Bits low = corner(corners, position, thread, [&] { return number(*format, thread); });
    if (!is_pair(kind)) return low;
    return number(*format, thread + 1) << format->bits() | (low & ((Bits{1} << format->bits()) - 1));
  }

  // At first, the first two operands run through all pairs of edge cases, further operands through some of
  // them.
  template <class Otherwise>
  Bits corner(const std::vector<Bits>& corners, std::size_t position, std::size_t thread,
              Otherwise otherwise) {
    const std::size_t count = corners.size();
    if (thread >= count * count) return otherwise();
    return corners[position == 0 ? thread / count : position == 1 ? thread % count : random_() % count];
  }

  Bits small_or_any() {
    const Bits any = random_();
    switch (random_() % 4) {
      case 0:
        return any % 1024 - 512;
      case 1:
        return any & random_();
      default:
        return any;
    }
  }

  // Any bits; near 1; in the middle of the range, so that products stay in range; a small integer or a half.
  Bits number(const numerics::Format& format, std::size_t character) {
    const Bits any = random_() & ((format.sign_bit() << 1) - 1);
    const Bits fraction = any & ((Bits{1} << format.fraction_bits) - 1), sign = any & format.sign_bit();
    const auto spread = [&](int width) {
      const int exponent = format.bias() - width / 2 + static_cast<int>(random_() % static_cast<Bits>(width));
      return sign | static_cast<Bits>(exponent) << format.fraction_bits | fraction;
    };
    switch (character % 4) {
      case 0:
        return any;
      case 1:
        return spread(6);
      case 2:
        return spread(format.bias());
      default:
        return numerics::from_double(format, (static_cast<double>(random_() % 2048) - 1024) / 2);
    }
  }

  const std::vector<Bits>& corners_of(Kind kind, const numerics::Format& format) {
    if (kind != kind_) {
      kind_ = kind;
      corners_ = float_corners(format);
    }
    return corners_;
  }

  std::mt19937_64 random_;
  Kind kind_ = Kind::none;
  std::vector<Bits> corners_;
};

// How far two results of an element are apart, in units of the format (an infinity is one beyond the largest
// number); with `flush`, all subnormals are 0 and the smallest normal number is 1 away from it. Counted in
// integers: an f64's pattern has more bits than a double holds.
inline double distance(const numerics::Format& format, Bits a, Bits b, bool flush) {
  const auto rank = [&](Bits bits) {
    const Bits magnitude = bits & ~format.sign_bit(), subnormals = (Bits{1} << format.fraction_bits) - 1;
    return !flush ? magnitude : magnitude > subnormals ? magnitude - subnormals : 0;
  };
  const Bits x = rank(a), y = rank(b);
  if (((a ^ b) & format.sign_bit()) != 0) return static_cast<double>(x) + static_cast<double>(y);
  return static_cast<double>(x > y ? x - y : y - x);
}

// worst: the largest distance so far among elements that agree only within the tolerance.
inline bool agrees(const ScalarCase& one, Bits expected, Bits found, double& worst) {
  if (expected == found) return true;
  const numerics::Format* format = format_of_kind(one.result);
  if (format == nullptr || (one.tolerance.ulp == 0 && one.tolerance.absolute == 0)) return false;
  const bool flush = one.text.find(".ftz") != std::string::npos;
  for (int element = 0; element < (is_pair(one.result) ? 2 : 1); ++element) {
    const Bits mask = format->bits() == 64 ? ~Bits{0} : (Bits{1} << format->bits()) - 1;
    const Bits a = expected >> (element * format->bits()) & mask,
               b = found >> (element * format->bits()) & mask;
    if (a == b) continue;
    if (numerics::is_nan(*format, a) || numerics::is_nan(*format, b)) return false;
    const double apart = distance(*format, a, b, flush);
    worst = std::max(worst, apart);
    const double absolute = std::fabs(numerics::to_double(*format, a) - numerics::to_double(*format, b));
    if (apart > one.tolerance.ulp && !(absolute <= one.tolerance.absolute)) return false;
  }
  return true;
}

}  // namespace tenon::emulator::testing
