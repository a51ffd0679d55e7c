// Recorded times of every kernel that computes a problem, and what a choice among them costs.
//
// microbench/results/<machine>/choices.json is one such record: tenon_gemm_benchmark --choices writes it, and
// a test judges gemm()'s choice by it on machines without a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/gemm/launch_plan.hpp"
#include "microbench/choice_problems.hpp"

namespace tenon::microbench {

// Microseconds of a launch. The name is that of the kernel, with " + padded copies" behind it where operands
// were copied into the workspace first.
struct ChoiceTime {
  std::string name;
  double microseconds = 0;
};

struct ChoiceTimes {
  ChoiceProblem problem;
  std::vector<ChoiceTime> times;
};

struct ChoiceRecord {
  std::uint64_t seed = 0;
  DeviceDescription device;
  std::string commit, machine, toolkit, date;
  std::vector<ChoiceTimes> problems;
};

const ChoiceTime& fastest(const ChoiceTimes& times);

// The names are written once, in a table; a problem, a line of the text, holds [number in that table,
// microseconds] pairs, fastest first.
std::string to_text(const ChoiceRecord& record);
// The inverse. Failure where the text is not such a record.
ChoiceRecord read_choice_record(const std::string& text);

// Time of the kernel that is chosen over the time of the fastest one: 1 at best.
struct Regret {
  const ChoiceTimes* of;
  std::string chosen;
  double ratio;
};

struct Regrets {
  std::vector<Regret> regrets;
  // Problems whose choice has no recorded time, and what was chosen: it says nothing of them.
  std::vector<std::pair<const ChoiceTimes*, std::string>> unknown;
};

// Of the problems of one group. chosen: the name of what is chosen for a problem.
Regrets regrets_of(const ChoiceRecord& record, const std::string& group,
                   const std::function<std::string(const ChoiceTimes&)>& chosen);

double geometric_mean(const std::vector<Regret>& regrets);  // 1 for none
const Regret* worst(const std::vector<Regret>& regrets);    // null for none

}  // namespace tenon::microbench
