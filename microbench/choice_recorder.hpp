// Times every kernel that computes a problem, problem after problem, until a time limit.
//
// The loop calls neither CUDA nor a clock. BurstTimer does both, and tests replace it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "microbench/choice_record.hpp"

namespace tenon::microbench {

// A kernel on the operands as they are or on padded copies.
struct ChoiceCandidate {
  const Kernel* kernel;
  bool has_copies;
  std::size_t workspace_bytes;
  double cost;   // planned_cost()
  Gemm planned;  // planned_problem()

  std::string name() const;  // as ChoiceTime has it
};

// Each kernel that computes the problem, with and without a workspace, least estimate first. Kernels of
// Copy::module and with FusedEpilogue are left out, since gemm() never chooses them here.
std::vector<ChoiceCandidate> choice_candidates(const std::vector<Kernel>& list, const Gemm& problem,
                                               const DeviceDescription& device);

// Kernel::narrowest of each fitted kernel of the list, for ChoiceRecord::narrowest.
std::map<std::string, int> narrowest_tiles(const std::vector<Kernel>& list);
// The list with tiles fitted as they were when the record was made.
std::vector<Kernel> kernels_as_recorded(const ChoiceRecord& record, const std::vector<Kernel>& list);

// The name, like that of a candidate, of what gemm() chooses with as much workspace as helps. Failure if no
// kernel computes the problem.
std::string choice_of(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device);

class BurstTimer {
 public:
  virtual ~BurstTimer() = default;
  // Prepares the operands of the problem, and all candidates. burst() returns 0 for a candidate that cannot
  // be launched. Returns the number of cuBLASLt's answers, which follow the candidates.
  virtual std::size_t prepare(const ChoiceProblem& problem,
                              const std::vector<ChoiceCandidate>& candidates) = 0;
  // Microseconds of a launch in a short burst of candidate i, or of answer i - candidates.
  virtual double burst(std::size_t i) = 0;
  virtual double seconds() = 0;  // since some moment
};

struct ChoiceRecorderRules {
  double seconds = 120;      // no burst begins later
  int bursts = 3;            // of a candidate; the median counts
  double time_factor = 1.2;  // a candidate whose first is above this multiple of the least has no others
  double cost_factor = 1.5;  // candidates are left out whose estimate is above this multiple of the least
  std::function<void()> finished = [] {};  // called after each problem that was appended
};

// Appends an entry to *result for each problem that was finished in time, in the order of the problems.
// gemm()'s choice is always among the candidates, and kernels that it never chooses are not. Each round of
// bursts goes through all candidates of a problem and the answers of cuBLASLt, so that a change of the clock
// or of the temperature affects all of them; a burst before the first round does not count. If the timer
// throws, *result keeps the problems before.
void record_choices(const std::vector<Kernel>& list, const DeviceDescription& device,
                    const std::vector<ChoiceProblem>& problems, BurstTimer& timer,
                    const ChoiceRecorderRules& rules, std::vector<ChoiceTimes>* result);

// The regret of gemm()'s choice, a line for each group: the geometric mean; the speed of the choice and of
// the fastest kernel, relative to cuBLASLt's; and the worst problem with its choice and its fastest kernel.
std::string regret_table(const ChoiceRecord& record, const std::vector<Kernel>& list);

}  // namespace tenon::microbench
