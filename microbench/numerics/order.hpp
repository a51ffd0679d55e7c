// The order in which an instruction adds: which terms it adds in one step, and where the accumulator enters.
//
// The probe is that of FPRev (Xie et al., USENIX ATC 2025). Two terms are +M and -M, all others one unit, so
// small that M absorbs it. The result counts the units that were added after +M and -M cancelled. That gives,
// for any two terms, the number of terms in the subtree of the step that joins them, and with that the tree
// of steps.
#pragma once

#include <string>
#include <vector>

#include "microbench/numerics/interview.hpp"

namespace tenon::probing {

// A step: the terms and the results of earlier steps that it adds at once.
struct Step {
  std::vector<int> terms;  // product i; products() stands for the accumulator
  std::vector<Step> parts;

  bool holds(int term) const;  // here or in a part
  int first() const;           // the smallest term
};

struct Order {
  enum class Kind {
    exact,   // no M absorbs a unit
    steps,   // last_step is the tree
    unclear  // no tree gives these answers; `why` says which answers
  } kind = Kind::unclear;
  Step last_step;
  std::string why;
};

Order find_order(Interview& interview);

// "(c + k0..7) + k8..15"; `accumulator` is the number that stands for c.
std::string describe(const Step& step, int accumulator);

// All steps, each one before the steps that use its result.
std::vector<const Step*> steps_in_order(const Step& last);

}  // namespace tenon::probing
