// How one step of a sum rounds: the number of bits below the largest term that each term keeps, how the rest
// is cut off, the number of bits of the result and how it is rounded, and the exponent below which the cut no
// longer follows the largest term.
#pragma once

#include <optional>
#include <string>

#include "microbench/numerics/order.hpp"

namespace tenon::probing {

enum class Direction : std::uint8_t {
  unseen,  // no question shows it
  to_zero,
  nearest_even,
  nearest_away,
  down,
  up,
  mixed  // none of the above
};
const char* name(Direction direction);  // "toward zero"

struct StepRounding {
  // Bits that a term keeps below the largest term's exponent; empty: fewer than three terms, or no limit was
  // seen.
  std::optional<int> kept_bits;
  Direction cut = Direction::unseen;
  // Fraction bits of the result, as far as kept_bits reveals them.
  std::optional<int> result_bits;
  Direction rounding = Direction::unseen;
  // The exponent used in place of the largest term's where that is smaller; empty: no such limit was seen.
  std::optional<int> minimum_exponent;

  friend bool operator==(const StepRounding& x, const StepRounding& y) {
    return x.kept_bits == y.kept_bits && x.cut == y.cut && x.result_bits == y.result_bits &&
           x.rounding == y.rounding && x.minimum_exponent == y.minimum_exponent;
  }
};

StepRounding find_rounding(Interview& interview, const Step& step);

}  // namespace tenon::probing
