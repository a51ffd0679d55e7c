// Times every kernel that computes a problem, problem after problem, until a time limit.
//
// The loop knows neither CUDA nor a clock: both are behind BurstTimer, and a test brings its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "microbench/choice_record.hpp"

namespace tenon::microbench {

// A kernel on the operands as they are (workspace_bytes == 0) or on padded copies.
struct ChoiceCandidate {
  const Kernel* kernel;
  std::size_t workspace_bytes;
  double cost;  // planned_cost()

  std::string name() const;  // as ChoiceTime has it
};

// What gemm() can be made to run by naming a kernel, with and without a workspace, cheapest estimate first.
// Not the kernels of Copy::module, which gemm() never chooses.
std::vector<ChoiceCandidate> choice_candidates(const std::vector<Kernel>& list, const Gemm& problem,
                                               const DeviceDescription& device);

// What gemm() chooses by itself with as much workspace as helps, named like a candidate. Failure where it has
// no kernel.
std::string choice_of(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device);

class BurstTimer {
 public:
  virtual ~BurstTimer() = default;
  // Prepares operands for the problem and all candidates. One whose launch fails gets an empty burst: its
  // burst() returns 0.
  virtual void prepare(const ChoiceProblem& problem, const std::vector<ChoiceCandidate>& candidates) = 0;
  // Microseconds of a launch in a short burst of candidate i.
  virtual double burst(std::size_t i) = 0;
  virtual double seconds() = 0;  // since some moment
};

struct ChoiceRecorderRules {
  double seconds = 120;    // no burst begins later
  int bursts = 3;          // of a candidate; the median counts
  double cost_factor = 3;  // candidates are left out whose estimate is above this multiple of the least
};

// One entry a problem, in order, of those that were finished in time; gemm()'s choice is always among the
// candidates. The candidates of a problem take turns, so that a change of the clock or of the temperature
// meets all of them.
std::vector<ChoiceTimes> record_choices(const std::vector<Kernel>& list, const DeviceDescription& device,
                                        const std::vector<ChoiceProblem>& problems, BurstTimer& timer,
                                        const ChoiceRecorderRules& rules);

// The regret of gemm()'s choice, a line a group: geometric mean, and the worst problem with what was chosen
// and what was fastest.
std::string regret_table(const ChoiceRecord& record, const std::vector<Kernel>& list);

}  // namespace tenon::microbench
