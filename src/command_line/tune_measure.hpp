// One problem on the GPU: whether every candidate computes it right, and which one is fastest.
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
  std::vector<const Kernel*> right;  // the candidates that compute it right, in their order
  std::vector<std::string> wrong;    // a sentence each about the others
  RaceResult race;                   // among `right`; not run if the documented choice is wrong
};

// How far two right results may lie apart: each element, and the Frobenius norm of their difference relative
// to that of the second.
struct Agreement {
  double error = 0.0, relative_error = 0.0;
};

// Whether two results of the same shape and type lie that near to each other; s32 must be equal. NaN and
// infinities agree with themselves alone. If not, *where says what was found and what is needed.
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

  // The problem as tune_problems() makes it, its candidates as tune_candidates() finds them: the documented
  // choice first. That one's result is compared with the exact product (check.hpp), every other one's with
  // that result: two right ones lie within two error bounds of each other. `label` stands before a progress
  // bar.
  TuneOutcome run(const Gemm& problem, const std::vector<const Kernel*>& candidates, const RaceRules& rules,
                  const std::string& label);

 private:
  struct Operands;
  struct Clock;

  Device& cuda_;
  std::unique_ptr<Operands> operands_;  // of the last problem
  std::unique_ptr<Clock> clock_;
};

}  // namespace tenon::command
