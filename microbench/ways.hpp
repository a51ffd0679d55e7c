// The ways in which a product is timed (measure.hpp), as the command line spells them.
#pragma once

#include <string>

namespace tenon::microbench {

struct Ways {
  bool burst = false;      // back to back
  bool between = false;    // a burst in which a foreign kernel follows each product
  bool cold = false;       // a burst whose operands are not in the L2, of short products
  bool sustained = false;  // back to back, for half a second
};

// "burst,between", "sustained"; "both" is burst,sustained. Throws Failure for other words, for one that comes
// twice and for none.
Ways parse_ways(const std::string& text);

// The inverse, in the order of the members.
std::string name(const Ways& ways);

}  // namespace tenon::microbench
