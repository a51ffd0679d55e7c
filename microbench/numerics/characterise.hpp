// Everything about one instruction's arithmetic: what the probes find without knowing a model, and which of
// the emulator's models gives the same bits for every question of the probes and for random operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "microbench/numerics/order.hpp"
#include "microbench/numerics/rounding.hpp"
#include "microbench/numerics/special.hpp"

namespace tenon::probing {

// The findings of the probes. Integers are probed for traits alone, f64 for order and traits.
struct Character {
  Order order;
  std::vector<StepRounding> rounding;  // of the steps in order; for an exact sum, of its one rounding
  std::vector<Trait> traits;
  // The emulator's parameters for this arithmetic; empty if its algorithm cannot express it.
  std::optional<emulator::numerics::Arithmetic> arithmetic;
};

Character characterise(Interview& interview);

// One model compared with the subject's answers.
struct Fit {
  std::string model;  // "sm_90"; "probed": the parameters that the probes found
  std::uint64_t results = 0, differences = 0;
  std::string first;  // the first difference, in words: the question and both answers
};

struct FormReport {
  emulator::numerics::NamedForm named;
  std::string unsupported;  // why the subject cannot execute it; then the rest is empty
  Character character;
  std::vector<Fit> fits;  // of every model in order, then of "probed" if there is one
};

struct Sampling {
  std::uint64_t results = 100000;  // random results for each form, at least one instruction
  std::uint64_t seed = 1;
};

FormReport examine(Subject& subject, const emulator::numerics::NamedForm& named, const Sampling& sampling);

// The models without a difference in any form that was executed.
std::vector<std::string> fitting_models(const std::vector<FormReport>& reports);

}  // namespace tenon::probing
