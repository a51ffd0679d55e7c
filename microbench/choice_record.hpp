// Recorded times of every kernel that computes a problem, and the regret of a choice among them.
//
// tenon_gemm_benchmark --choices writes such a record to microbench/results/<machine>/choices_SEED.json. A
// test reads it to judge gemm()'s choice on machines without a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "microbench/choice_problems.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon::microbench {

// The time of a launch, back to back or between others as the record says. The name is that of the kernel,
// followed by " + padded copies" if operands were copied into the workspace first.
struct ChoiceTime {
  std::string name;
  double microseconds = 0;
};

struct ChoiceTimes {
  ChoiceProblem problem;
  std::vector<ChoiceTime> times;
  // Of the fastest of cuBLASLt's answers, timed as the kernels are; 0 where it has none or was not timed.
  double cublaslt_us = 0;
};

struct ChoiceRecord {
  std::uint64_t seed = 0;
  bool between =
      false;  // a foreign kernel followed each launch; times are less its own (Stopwatch::between())
  double foreign_us = 0;
  DeviceDescription device;
  std::string commit, machine, toolkit, date;
  // Kernel::narrowest of the timed kernels whose tiles were fitted; the others' were not. Nothing in records
  // that do not say it, whose kernels are taken to have been as they are now.
  std::optional<std::map<std::string, int>> narrowest;
  std::vector<ChoiceTimes> problems;
};

const ChoiceTime& fastest(const ChoiceTimes& times);

// JSON in which a table holds each name once, and beside it the narrowest tile of each. Each problem is a
// line, with pairs [number in that table, microseconds], fastest first.
std::string to_text(const ChoiceRecord& record);
// The inverse. Failure where the text is not such a record.
ChoiceRecord read_choice_record(const std::string& text);

// The time of the chosen kernel over that of the fastest one: 1 at best.
struct Regret {
  const ChoiceTimes* of;
  std::string chosen;
  double ratio;
};

struct Regrets {
  std::vector<Regret> regrets;
  // Problems whose choice has no recorded time, and the choice.
  std::vector<std::pair<const ChoiceTimes*, std::string>> unknown;
};

// The regrets of the problems of a group. chosen() returns the name of the choice for a problem.
Regrets regrets_of(const ChoiceRecord& record, const std::string& group,
                   const std::function<std::string(const ChoiceTimes&)>& chosen);

// What is lost without a compiled kernel, which may be several entries of the list that differ in their
// clusters: the best time without it over the best time, of the problems for which it was timed and is not
// the only kernel.
struct KernelLoss {
  std::string kernel;  // the name without the cluster
  int problems;
  double mean, worst;  // geometric
};
// Least mean first.
std::vector<KernelLoss> losses_without(const ChoiceRecord& record);

// The time of cuBLASLt over that of the choice, and over that of the fastest kernel: geometric means of the
// problems that have both. 0 if none has.
struct SpeedToCublasLt {
  double choice = 0, fastest = 0;
};
SpeedToCublasLt speed_to_cublaslt(const std::vector<Regret>& regrets);

double geometric_mean(const std::vector<Regret>& regrets);  // 1 for none
const Regret* worst(const std::vector<Regret>& regrets);    // null for none

}  // namespace tenon::microbench
