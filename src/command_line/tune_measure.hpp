// Tuning of one problem on the GPU: checks every candidate's result and finds the fastest candidate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command_line/operand.hpp"
#include "command_line/tune_race.hpp"
#include "device/device.hpp"
#include "gemm/kernel.hpp"
#include "tenon/gemm.hpp"

namespace tenon::command {

struct TuneOutcome {
  std::vector<const Kernel*> right;  // the candidates with a right result, in their order
  std::vector<std::string> wrong;    // a sentence for each of the others
  RaceResult race;                   // among `right`; not run if the documented choice is wrong
};

// How much two right results may differ: in each element, and in the Frobenius norm of the difference
// relative to the norm of the second.
struct Agreement {
  double error = 0.0, relative_error = 0.0;
};

// Whether two results of the same shape and type differ by no more than that; s32 must be equal. NaN agrees
// only with NaN, an infinity only with itself. If they do not agree, *where says what was found and what is
// needed.
bool agree(const Operand& computed, const Operand& documented, const Agreement& allowed, std::string* where);

// Throws Failure(machine_cannot) if the device has not enough free memory for A, B and C of the problem.
void require_room(Device& cuda, const Gemm& problem);

class TuneBench {
 public:
  // On the current CUDA device.
  explicit TuneBench(Device& cuda);
  ~TuneBench();
  TuneBench(const TuneBench&) = delete;
  TuneBench& operator=(const TuneBench&) = delete;

  // problem: from tune_problems(). candidates: from tune_candidates(), the documented choice first. Its
  // result is compared with the exact product (check.hpp), and every other result with its result: two right
  // results differ by at most two error bounds. label: the text before the progress bar.
  TuneOutcome run(const Gemm& problem, const std::vector<const Kernel*>& candidates, const RaceRules& rules,
                  const std::string& label);

 private:
  struct Operands;
  struct Clock;

  Device& cuda_;
  std::unique_ptr<Operands> operands_;  // of the previous problem, kept if the next one has the same
  std::unique_ptr<Clock> clock_;
};

}  // namespace tenon::command
