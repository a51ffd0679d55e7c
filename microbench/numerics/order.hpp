// In which order an instruction sums: which terms it takes in one step, and where the accumulator enters.
//
// The probe is that of FPRev (Xie et al., USENIX ATC 2025). Two terms are +M and -M, all others one unit, so
// small that it is lost beside M. The units that come out are those that meet the sum after M and -M have
// met: so the number of terms below the step in which any two terms meet is known, and with that the tree of
// steps.
#pragma once

#include <string>
#include <vector>

#include "microbench/numerics/interview.hpp"

namespace tenon::probing {

// A step: the terms and the results of earlier steps that it sums at once.
struct Step {
  std::vector<int> terms;  // product i; products() stands for the accumulator
  std::vector<Step> parts;

  bool holds(int term) const;  // here or in a part
  int first() const;           // the smallest term
};

struct Order {
  enum class Kind {
    exact,   // no unit is lost beside any M
    steps,   // last_step is the tree
    unclear  // the answers are those of no tree; `why` says which
  } kind = Kind::unclear;
  Step last_step;
  std::string why;
};

Order find_order(Interview& interview);

// "(c + k0..7) + k8..15"; `accumulator` is the number that stands for c.
std::string describe(const Step& step, int accumulator);

// Every step, the first before those that use its result.
std::vector<const Step*> steps_in_order(const Step& last);

}  // namespace tenon::probing
