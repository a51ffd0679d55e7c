// How much longer gemm()'s choice of a kernel takes than the fastest kernel, by recorded times of all of them
// (microbench/results/*/choices.json, which tenon_gemm_benchmark --choices wrote on these machines). The
// problems were drawn at random: the cost model was fitted to half of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "host/kernel_list.hpp"
#include "microbench/choice_record.hpp"
#include "microbench/choice_recorder.hpp"

namespace tenon {
namespace {

using namespace microbench;

// What the choice may cost in a group of problems: time over that of the fastest kernel. A change of the
// model that goes beyond a limit is worse than the model that the limit was set for.
struct Limits {
  const char* group;
  double mean;   // geometric
  double worst;  // of one problem
};

// Beside each limit what the record says of today's parameters, mean and worst; the limit is about 1 % and
// 5 % above it. They were fitted to these records and to others of both machines (microbench/HISTORY.md).
struct Machine {
  const char *folder, *name;
  Limits limits[9];
};
constexpr Machine h100 = {"h100",
                          "NVIDIA H100 80GB HBM3",
                          {
                              {"aligned", 1.046, 1.60},  // 1.036, 1.524
                              {"decode", 1.045, 1.27},   // 1.035, 1.209
                              {"tokens", 1.051, 1.32},   // 1.041, 1.261
                              {"large", 1.027, 1.25},    // 1.017, 1.190, since the fitted tiles are left out
                              {"unaligned", 1.063, 1.71},  // 1.053, 1.628
                              {"fp8", 1.041, 1.43},        // 1.031, 1.358
                              {"s8", 1.050, 1.80},         // 1.040, 1.713
                              {"tf32", 1.038, 1.27},       // 1.028, 1.211
                              {"f16_sums", 1.039, 1.23},   // 1.029, 1.168
                          }};
constexpr Machine h200 = {"h200",
                          "NVIDIA H200",
                          {
                              {"aligned", 1.052, 1.40},    // 1.042, 1.330
                              {"decode", 1.052, 1.45},     // 1.042, 1.383
                              {"tokens", 1.049, 1.31},     // 1.039, 1.251
                              {"large", 1.017, 1.11},      // 1.007, 1.060
                              {"unaligned", 1.078, 1.98},  // 1.068, 1.887
                              {"fp8", 1.050, 1.40},        // 1.040, 1.329
                              {"s8", 1.055, 1.37},         // 1.045, 1.302
                              {"tf32", 1.039, 1.30},       // 1.029, 1.241
                              {"f16_sums", 1.056, 1.55},   // 1.046, 1.475
                          }};
constexpr const Machine* machines[] = {&h100, &h200};

// The part of the problems of a group whose choice the record need not know.
constexpr double most_unknown = 0.09;

// A sentence for each limit that a choice exceeds, and for each problem that the record cannot judge, if
// there are many.
std::vector<std::string> complaints(const ChoiceRecord& record, const Machine& machine,
                                    const std::vector<Kernel>& list) {
  std::vector<std::string> result;
  const auto choice = [&](const ChoiceTimes& times) {
    return choice_of(list, gemm_of(times.problem), record.device);
  };
  for (const Limits& limit : machine.limits) {
    const Regrets regrets = regrets_of(record, limit.group, choice);
    std::ostringstream text;
    if (const double mean = geometric_mean(regrets.regrets); mean > limit.mean) {
      text << limit.group << ": the choice takes " << mean << " of the least time in the mean, limit "
           << limit.mean;
      result.push_back(text.str());
    }
    for (const Regret& regret : regrets.regrets) {
      if (regret.ratio <= limit.worst) continue;
      text.str("");
      text << limit.group << ", " << describe(regret.of->problem) << ": " << regret.chosen << " takes "
           << regret.ratio << " of the time of " << fastest(*regret.of).name << ", limit " << limit.worst;
      result.push_back(text.str());
    }
    // The recorder leaves out what the model of its time thought hopeless.
    const std::size_t all = regrets.regrets.size() + regrets.unknown.size();
    if (static_cast<double>(regrets.unknown.size()) <= most_unknown * static_cast<double>(all)) continue;
    for (const auto& [of, chosen] : regrets.unknown)
      result.push_back(std::string(limit.group) + ", " + describe(of->problem) + ": " + chosen +
                       " is chosen, but the record has no time of it: record the choices again");
  }
  return result;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The kernels that the record has times of. Where the library got others since, the record judges the choice
// among these.
std::vector<Kernel> recorded_kernels(const ChoiceRecord& record) {
  std::set<std::string> names;
  for (const ChoiceTimes& times : record.problems)
    for (const ChoiceTime& time : times.times) names.insert(time.name.substr(0, time.name.find(" + ")));
  std::vector<Kernel> result;
  for (const Kernel& kernel : kernels())
    if (names.count(kernel.name) != 0) result.push_back(kernel);
  return result;
}

// The record without the times of kernels that run otherwise today: both records are older than tiles that
// are fitted to C (Kernel::narrowest), and than the removal of tiles which those replace. It judges the
// choice among the others until the choices are recorded again.
ChoiceRecord of_unchanged_kernels(ChoiceRecord record) {
  const auto has_changed = [](const ChoiceTime& time) {
    const Kernel* const kernel = find_kernel(time.name.substr(0, time.name.find(" + ")));
    return kernel == nullptr || kernel->narrowest != 0;
  };
  auto& problems = record.problems;
  for (ChoiceTimes& problem : problems)
    problem.times.erase(std::remove_if(problem.times.begin(), problem.times.end(), has_changed),
                        problem.times.end());
  problems.erase(std::remove_if(problems.begin(), problems.end(),
                                [](const ChoiceTimes& problem) { return problem.times.empty(); }),
                 problems.end());
  return record;
}

ChoiceRecord committed(const Machine& machine) {
  std::ostringstream text;
  text << std::ifstream(std::string(TENON_RESULTS) + "/" + machine.folder + "/choices.json").rdbuf();
  return read_choice_record(text.str());
}

class ChoiceRegret : public testing::TestWithParam<const Machine*> {
 protected:
  const Machine& machine_ = *GetParam();
  const ChoiceRecord record_ = committed(machine_);
};
INSTANTIATE_TEST_SUITE_P(Machines, ChoiceRegret, testing::ValuesIn(machines),
                         [](const auto& info) { return std::string(info.param->folder); });

TEST_P(ChoiceRegret, IsWithinTheLimits) {
  const ChoiceRecord record = of_unchanged_kernels(record_);
  EXPECT_GE(record.problems.size(), 600U);
  const std::vector<Kernel> list = recorded_kernels(record);
  const std::vector<std::string> found = complaints(record, machine_, list);
  EXPECT_TRUE(found.empty()) << joined(found) << regret_table(record, list);
}

TEST_P(ChoiceRegret, RecordIsOfThisLibraryAndLargeEnough) {
  EXPECT_EQ(record_.machine, machine_.name);
  EXPECT_EQ(record_.device.sm, 90);
  EXPECT_FALSE(record_.commit.empty());
  EXPECT_GE(record_.problems.size(), 600U);
  for (const Limits& limit : machine_.limits) {
    const auto is_of_the_group = [&](const ChoiceTimes& times) { return times.problem.group == limit.group; };
    EXPECT_GE(std::count_if(record_.problems.begin(), record_.problems.end(), is_of_the_group), 5)
        << limit.group;
  }
  const std::vector<ChoiceProblem> drawn =
      draw_choice_problems(record_.seed, static_cast<int>(record_.problems.size()));
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const ChoiceTimes& times = record_.problems[i];
    EXPECT_EQ(describe(times.problem), describe(drawn[i])) << "problem " << i << " of the seed";
    EXPECT_FALSE(times.times.empty()) << describe(times.problem);
  }
}

// A record in which the choice is the fastest kernel, and others that deviate from it, show that the test
// above can fail.
class PlantedRegret : public testing::Test {
 protected:
  PlantedRegret() {
    record_.device = test::h200;
    for (const ChoiceProblem& problem : draw_choice_problems(5, 32)) {
      const Gemm p = gemm_of(problem);
      ChoiceTimes times{problem, {}};
      const std::string chosen = choice_of(kernels(), p, record_.device);
      for (const ChoiceCandidate& candidate : choice_candidates(kernels(), p, record_.device))
        times.times.push_back({candidate.name(), candidate.name() == chosen ? 10.0 : 20.0});
      record_.problems.push_back(times);
    }
  }

  // Makes the choice take so many times as long, for `count` problems of a group.
  void slow_down(const std::string& group, double factor, int count) {
    for (ChoiceTimes& times : record_.problems) {
      if (times.problem.group != group || count-- <= 0) continue;
      for (ChoiceTime& time : times.times) time.microseconds = time.microseconds == 10 ? 20 * factor : 20;
    }
  }

  ChoiceRecord record_;
};

TEST_F(PlantedRegret, OfNothingIsWithinTheLimits) {
  EXPECT_EQ(joined(complaints(record_, h200, kernels())), "");
}

TEST_F(PlantedRegret, OfOneProblemIsFound) {
  for (const Limits& limit : h200.limits) {
    const ChoiceRecord before = record_;
    slow_down(limit.group, limit.worst * 1.01, 1);
    const std::vector<std::string> found = complaints(record_, h200, kernels());
    ASSERT_FALSE(found.empty()) << limit.group;
    EXPECT_NE(joined(found).find(std::string(limit.group) + ", "), std::string::npos) << joined(found);
    EXPECT_NE(joined(found).find(" of the time of "), std::string::npos) << joined(found);
    record_ = before;
  }
}

TEST_F(PlantedRegret, OfAWholeGroupIsFoundBelowTheWorstCase) {
  for (const Limits& limit : h200.limits) {
    const ChoiceRecord before = record_;
    slow_down(limit.group, limit.mean * 1.01, 1000);
    const std::vector<std::string> found = complaints(record_, h200, kernels());
    ASSERT_EQ(found.size(), 1U) << joined(found);
    EXPECT_EQ(found[0].find(std::string(limit.group) + ": the choice takes "), 0U) << found[0];
    record_ = before;
  }
}

TEST_F(PlantedRegret, OfKernelsThatWereNotTimedIsUnknownAndReportedIfTheyAreMany) {
  std::size_t erased = 0;
  for (ChoiceTimes& times : record_.problems) {
    if (times.problem.group != "aligned" || erased == 3) continue;
    ++erased;
    times.times.erase(std::remove_if(times.times.begin(), times.times.end(),
                                     [](const ChoiceTime& time) { return time.microseconds == 10; }),
                      times.times.end());
  }
  const std::vector<std::string> found = complaints(record_, h200, kernels());
  ASSERT_EQ(found.size(), erased) << joined(found);
  EXPECT_NE(found[0].find("the record has no time of it"), std::string::npos) << found[0];
}

// A choice that ignores the cost model is outside the limits by the committed times as well.
TEST_P(ChoiceRegret, OfTheMedianKernelIsBeyondTheLimits) {
  const auto median_kernel = [](const ChoiceTimes& times) {
    std::vector<ChoiceTime> sorted = times.times;
    std::sort(sorted.begin(), sorted.end(),
              [](const ChoiceTime& a, const ChoiceTime& b) { return a.microseconds < b.microseconds; });
    return sorted[sorted.size() / 2].name;
  };
  for (const Limits& limit : machine_.limits)
    EXPECT_GT(geometric_mean(regrets_of(record_, limit.group, median_kernel).regrets), limit.mean)
        << limit.group;
}

}  // namespace
}  // namespace tenon
