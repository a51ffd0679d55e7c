// How an instruction treats special values: subnormal numbers, zeros, infinities, NaN, and results outside
// the format's range. For integers: how it treats overflow.
#pragma once

#include <string>
#include <vector>

#include "microbench/numerics/interview.hpp"

namespace tenon::probing {

struct Trait {
  std::string what, answer;  // "subnormal factors", "kept"
};

// In a fixed order, without the questions that the form's types cannot express.
std::vector<Trait> find_traits(Interview& interview);

}  // namespace tenon::probing
