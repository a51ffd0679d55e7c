// How much longer gemm()'s choice of a kernel takes than the fastest kernel of the library, by recorded times
// of all of them (microbench/results/*/choices_SEED.json, between_SEED.json of launches between others, and
// named_SEED.json of groups that were named, which tenon_gemm_benchmark --choices wrote on these machines).
// The problems were drawn at random. The correction of the cost model was trained with all of them;
// fit_correction.py, with its test, says what a training with half of them makes of the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
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

// Beside each limit what the records say of today's choice, mean and worst; the limit is about 0.5 % and 5 %
// above it.
struct Machine {
  const char *folder, *name;
  Limits limits[9];
};
constexpr Machine h100 = {"h100",
                          "NVIDIA H100 80GB HBM3",
                          {
                              {"aligned", 1.026, 1.24},    // 1.021, 1.185
                              {"decode", 1.026, 1.28},     // 1.021, 1.223
                              {"tokens", 1.018, 1.17},     // 1.013, 1.124
                              {"large", 1.010, 1.10},      // 1.005, 1.054
                              {"unaligned", 1.031, 1.45},  // 1.026, 1.392
                              {"fp8", 1.018, 1.20},        // 1.013, 1.147
                              {"s8", 1.016, 1.13},         // 1.011, 1.086
                              {"tf32", 1.015, 1.18},       // 1.010, 1.132
                              {"f16_sums", 1.025, 1.23},   // 1.020, 1.175
                          }};
constexpr Machine h200 = {"h200",
                          "NVIDIA H200",
                          {
                              {"aligned", 1.024, 1.51},    // 1.019, 1.449
                              {"decode", 1.023, 1.36},     // 1.018, 1.305
                              {"tokens", 1.014, 1.26},     // 1.009, 1.205
                              {"large", 1.013, 1.27},      // 1.008, 1.215
                              {"unaligned", 1.024, 1.33},  // 1.019, 1.276
                              {"fp8", 1.026, 1.40},        // 1.021, 1.344
                              {"s8", 1.023, 1.27},         // 1.018, 1.219
                              {"tf32", 1.019, 1.35},       // 1.014, 1.293
                              {"f16_sums", 1.024, 1.27},   // 1.019, 1.217
                          }};
constexpr const Machine* machines[] = {&h100, &h200};

// The part of the problems of a group whose choice the record need not know.
constexpr double most_unknown = 0.09;

// The kernels that a record has times of, for more than one problem. Where the library got others since, the
// record judges the choice among these.
std::vector<Kernel> recorded_kernels(const ChoiceRecord& record) {
  std::map<std::string, int> times_of;
  for (const ChoiceTimes& times : record.problems)
    for (const ChoiceTime& time : times.times) ++times_of[time.name.substr(0, time.name.find(" + "))];
  std::vector<Kernel> result;
  for (const Kernel& kernel : kernels_as_recorded(record, kernels()))
    if (times_of[kernel.name] > 1) result.push_back(kernel);
  return result;
}

// Without the times of kernels that the library has no more: what they were worth is in
// microbench/HISTORY.md.
void keep_times_of(const std::vector<Kernel>& list, ChoiceRecord* record) {
  std::set<std::string> names;
  for (const Kernel& kernel : list) names.insert(kernel.name);
  for (ChoiceTimes& problem : record->problems) {
    auto& times = problem.times;
    const auto is_gone = [&](const ChoiceTime& time) {
      return names.count(time.name.substr(0, time.name.find(" + "))) == 0;
    };
    times.erase(std::remove_if(times.begin(), times.end(), is_gone), times.end());
  }
  auto& problems = record->problems;
  const auto has_none = [](const ChoiceTimes& problem) { return problem.times.empty(); };
  problems.erase(std::remove_if(problems.begin(), problems.end(), has_none), problems.end());
}

// A record, and the kernels to choose from.
struct Judged {
  ChoiceRecord record;
  std::vector<Kernel> list;
};

Regrets regrets_of_group(const std::vector<Judged>& all_judged, const std::string& group) {
  Regrets all;
  for (const Judged& judged : all_judged) {
    const ChoiceRecord& record = judged.record;
    const Regrets some = regrets_of(record, group, [&](const ChoiceTimes& times) {
      return choice_of(judged.list, gemm_of(times.problem), record.device);
    });
    all.regrets.insert(all.regrets.end(), some.regrets.begin(), some.regrets.end());
    all.unknown.insert(all.unknown.end(), some.unknown.begin(), some.unknown.end());
  }
  return all;
}

// A sentence for each limit that a choice exceeds, and for each problem that the records cannot judge, if
// there are many.
std::vector<std::string> complaints(const std::vector<Judged>& judged, const Machine& machine) {
  std::vector<std::string> result;
  for (const Limits& limit : machine.limits) {
    const Regrets regrets = regrets_of_group(judged, limit.group);
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

ChoiceRecord record_in(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return read_choice_record(text.str());
}

// Of the files PREFIX_SEED.json.
std::vector<ChoiceRecord> committed(const Machine& machine, const std::string& prefix) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TENON_RESULTS) + "/" + machine.folder))
    if (entry.path().filename().string().rfind(prefix + "_", 0) == 0) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<ChoiceRecord> records;
  for (const std::filesystem::path& file : files) {
    records.push_back(record_in(file));
    EXPECT_EQ(prefix + "_" + std::to_string(records.back().seed) + ".json", file.filename().string());
  }
  return records;
}

std::vector<Judged> judged(const std::vector<ChoiceRecord>& records) {
  std::vector<Judged> result;
  for (const ChoiceRecord& record : records) {
    result.push_back({record, recorded_kernels(record)});
    keep_times_of(result.back().list, &result.back().record);
  }
  return result;
}

// Of all groups.
std::vector<Regret> all_regrets(const std::vector<Judged>& judged, const Machine& machine) {
  std::vector<Regret> all;
  for (const Limits& limit : machine.limits) {
    const Regrets of_group = regrets_of_group(judged, limit.group);
    EXPECT_LE(of_group.unknown.size(), of_group.regrets.size() / 10) << limit.group;
    all.insert(all.end(), of_group.regrets.begin(), of_group.regrets.end());
  }
  return all;
}

// Each problem is what the seed draws, of all groups or of those that were named.
void expect_drawn(const ChoiceRecord& record, const std::vector<std::string>& groups = {}) {
  const std::vector<ChoiceProblem> drawn =
      draw_choice_problems(record.seed, static_cast<int>(record.problems.size()), groups);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const ChoiceTimes& times = record.problems[i];
    EXPECT_EQ(describe(times.problem), describe(drawn[i])) << "problem " << i << " of the seed";
    EXPECT_FALSE(times.times.empty()) << describe(times.problem);
  }
}

class ChoiceRegret : public testing::TestWithParam<const Machine*> {
 protected:
  const Machine& machine_ = *GetParam();
  const std::vector<ChoiceRecord> records_ = committed(machine_, "choices");
  const std::vector<Judged> judged_ = judged(records_);
};
INSTANTIATE_TEST_SUITE_P(Machines, ChoiceRegret, testing::ValuesIn(machines),
                         [](const auto& info) { return std::string(info.param->folder); });

TEST_P(ChoiceRegret, IsWithinTheLimits) {
  const std::vector<std::string> found = complaints(judged_, machine_);
  std::string tables;
  for (const Judged& judged : judged_) tables += regret_table(judged.record, judged.list);
  EXPECT_TRUE(found.empty()) << joined(found) << tables;
}

TEST_P(ChoiceRegret, IsBelowTwoPercentInTheMean) {
  EXPECT_LE(geometric_mean(all_regrets(judged_, machine_)), 1.02);
}

TEST_P(ChoiceRegret, RecordsAreLargeEnoughAndOfTheirSeeds) {
  std::size_t problems = 0;
  for (const ChoiceRecord& record : records_) {
    EXPECT_EQ(record.machine, machine_.name);
    EXPECT_EQ(record.device.sm, 90);
    EXPECT_FALSE(record.commit.empty());
    problems += record.problems.size();
    for (const Limits& limit : machine_.limits) {
      const auto is_of_the_group = [&](const ChoiceTimes& times) {
        return times.problem.group == limit.group;
      };
      EXPECT_GE(std::count_if(record.problems.begin(), record.problems.end(), is_of_the_group), 5)
          << limit.group;
    }
    expect_drawn(record);
  }
  EXPECT_GE(problems, 2500U);
}

double percentile_95(std::vector<Regret> regrets) {
  const auto at = regrets.begin() + static_cast<std::ptrdiff_t>(regrets.size() * 95 / 100);
  std::nth_element(regrets.begin(), at, regrets.end(),
                   [](const Regret& a, const Regret& b) { return a.ratio < b.ratio; });
  return at->ratio;
}

const std::filesystem::path results_of_h200 = std::filesystem::path(TENON_RESULTS) / h200.folder;

// Of launches that a foreign kernel follows, as in a model's stream.
TEST(ChoiceRegretBetween, IsWithinTheLimits) {
  const std::vector<ChoiceRecord> records = committed(h200, "between");
  for (const ChoiceRecord& record : records) EXPECT_TRUE(record.between) << record.seed;
  const std::vector<Judged> between = judged(records);
  const std::vector<Regret> all = all_regrets(between, h200);
  EXPECT_GE(all.size(), 7000U);
  EXPECT_LE(geometric_mean(all), 1.018);  // 1.016
  EXPECT_LE(percentile_95(all), 1.078);   // 1.073
}

// Of groups that were named, back to back and between others.
TEST(ChoiceRegretNamed, IsWithinTheLimits) {
  const std::vector<Judged> named = judged(committed(h200, "named"));
  struct Named {
    const char* group;
    std::size_t least;  // problems
    double mean, percentile;
  };
  for (const auto& [group, least, mean, percentile] :
       {Named{"few_tiles", 6000, 1.019, 1.08},      // 1.014, 1.074
        Named{"large", 200, 1.011, 1.04},           // 1.006, 1.026
        Named{"large_types", 200, 1.011, 1.05}}) {  // 1.006, 1.032
    const std::vector<Regret> regrets = regrets_of_group(named, group).regrets;
    EXPECT_GE(regrets.size(), least) << group;
    EXPECT_LE(geometric_mean(regrets), mean) << group;
    EXPECT_LE(percentile_95(regrets), percentile) << group;
  }
}

TEST(ChoiceRegretNamed, RecordsAreOfTheirSeeds) {
  const std::vector<ChoiceRecord> records = committed(h200, "named");
  EXPECT_EQ(records.size(), 4U);
  for (const ChoiceRecord& record : records) {
    EXPECT_EQ(record.machine, h200.name);
    std::vector<std::string> groups;  // which took turns
    for (const ChoiceTimes& times : record.problems) {
      if (!groups.empty() && times.problem.group == groups.front()) break;
      groups.push_back(times.problem.group);
    }
    expect_drawn(record, groups);
  }
}

// A record that nothing was fitted to.
TEST(ChoiceRegretUnseen, IsWithinTheLimits) {
  const std::vector<Judged> unseen = judged({record_in(results_of_h200 / "unseen_105.json")});
  const std::vector<Regret> all = all_regrets(unseen, h200);
  EXPECT_GE(all.size(), 700U);
  EXPECT_LE(geometric_mean(all), 1.020);  // 1.017
  EXPECT_LE(percentile_95(all), 1.078);   // 1.073
}

// The same products five hours later: even a choice by the times of all kernels costs something, and a choice
// by a model costs more.
TEST(ChoiceRegretMeasuredTwice, IsNotZeroForTheKernelThatWasFastestOnce) {
  const ChoiceRecord once = record_in(results_of_h200 / "choices_103.json"),
                     again = record_in(results_of_h200 / "again_103.json");
  std::map<std::string, std::string> fastest_once;
  for (const ChoiceTimes& times : once.problems) fastest_once[describe(times.problem)] = fastest(times).name;
  std::vector<Regret> all;
  for (const Limits& limit : h200.limits) {
    const Regrets of_group = regrets_of(
        again, limit.group, [&](const ChoiceTimes& times) { return fastest_once[describe(times.problem)]; });
    all.insert(all.end(), of_group.regrets.begin(), of_group.regrets.end());
  }
  EXPECT_GE(all.size(), 600U);
  EXPECT_NEAR(geometric_mean(all), 1.0083, 0.0005);
  EXPECT_NEAR(percentile_95(all), 1.051, 0.002);
}

// A record in which the choice is the fastest kernel, and others that deviate from it, show that
// IsWithinTheLimits can fail.
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
  EXPECT_EQ(joined(complaints({{record_, kernels()}}, h200)), "");
}

TEST_F(PlantedRegret, OfOneProblemIsFound) {
  for (const Limits& limit : h200.limits) {
    const ChoiceRecord before = record_;
    slow_down(limit.group, limit.worst * 1.01, 1);
    const std::vector<std::string> found = complaints({{record_, kernels()}}, h200);
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
    const std::vector<std::string> found = complaints({{record_, kernels()}}, h200);
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
  const std::vector<std::string> found = complaints({{record_, kernels()}}, h200);
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
  for (const auto& [record, list] : judged_)
    for (const Limits& limit : machine_.limits)
      EXPECT_GT(geometric_mean(regrets_of(record, limit.group, median_kernel).regrets), limit.mean)
          << limit.group;
}

}  // namespace
}  // namespace tenon
