// All that is to be known of one instruction's arithmetic: what the probes find out without knowing any
// model, and which of the emulator's models gives the same bits, on every question of the probes and on
// random operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "microbench/numerics/order.hpp"
#include "microbench/numerics/rounding.hpp"
#include "microbench/numerics/special.hpp"

namespace tenon::probing {

// What the probes found. Of integers, and of f64 beside the order, the traits alone are asked.
struct Character {
  Order order;
  std::vector<StepRounding> rounding;  // of the steps in order; of an exact sum, its one rounding
  std::vector<Trait> traits;
  // The numbers that the emulator would need for it; empty where its one algorithm is not what was found.
  std::optional<emulator::numerics::Arithmetic> arithmetic;
};

Character characterise(Interview& interview);

// One model against what the subject answered.
struct Fit {
  std::string model;  // "sm_90"; "probed": the numbers that the probes found
  std::uint64_t results = 0, differences = 0;
  std::string first;  // the first difference, in words: what was asked, what the subject and the model say
};

struct FormReport {
  emulator::numerics::NamedForm named;
  std::string unsupported;  // why the subject cannot execute it; then the rest is empty
  Character character;
  std::vector<Fit> fits;  // of every model, in their order; "probed" last, where there is one
};

struct Sampling {
  std::uint64_t results = 100000;  // random results a form, at least one instruction
  std::uint64_t seed = 1;
};

FormReport examine(Subject& subject, const emulator::numerics::NamedForm& named, const Sampling& sampling);

// The models without a difference in any form that was executed.
std::vector<std::string> fitting_models(const std::vector<FormReport>& reports);

}  // namespace tenon::probing
