// How one step of a sum rounds: to how many bits below the largest term each term is cut, how the cut is
// made, to how many bits the result is rounded, and how; and below which exponent the cut no longer follows
// the largest term.
#pragma once

#include <optional>
#include <string>

#include "microbench/numerics/order.hpp"

namespace tenon::probing {

enum class Direction : std::uint8_t {
  unseen,  // nothing that was asked shows it
  to_zero,
  nearest_even,
  nearest_away,
  down,
  up,
  mixed  // of none of the above
};
const char* name(Direction direction);  // "toward zero"

struct StepRounding {
  // Bits below the largest term's exponent that a term keeps; empty: fewer than three terms, or no end was
  // seen.
  std::optional<int> kept_bits;
  Direction cut = Direction::unseen;
  // Fraction bits of the result, as far as kept_bits let them be seen.
  std::optional<int> result_bits;
  Direction rounding = Direction::unseen;
  // The exponent that stands in for the largest term's where that is smaller; empty: no such end was seen.
  std::optional<int> minimum_exponent;

  friend bool operator==(const StepRounding& x, const StepRounding& y) {
    return x.kept_bits == y.kept_bits && x.cut == y.cut && x.result_bits == y.result_bits &&
           x.rounding == y.rounding && x.minimum_exponent == y.minimum_exponent;
  }
};

StepRounding find_rounding(Interview& interview, const Step& step);

}  // namespace tenon::probing
