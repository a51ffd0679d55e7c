// What an instruction makes of values that are not ordinary: subnormal numbers, zeros, infinities, NaN, and
// results that the format does not reach. For integers: what it makes of an overflow.
#pragma once

#include <string>
#include <vector>

#include "microbench/numerics/interview.hpp"

namespace tenon::probing {

struct Trait {
  std::string what, answer;  // "subnormal factors", "kept"
};

// In a fixed order; what the form's types cannot ask is left out.
std::vector<Trait> find_traits(Interview& interview);

}  // namespace tenon::probing
