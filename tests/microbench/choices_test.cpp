// The recording of choices, without a GPU: what problems are drawn, what the recorder times and when it
// stops, and what the record says of a choice.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "gemm/select.hpp"
#include "host/kernel_list.hpp"
#include "host/validate.hpp"
#include "microbench/choice_problems.hpp"
#include "microbench/choice_record.hpp"
#include "microbench/choice_recorder.hpp"

namespace tenon::microbench {
namespace {

using test::h200;

// A clock that a burst moves on, and times that are the estimates: candidate i takes a little less in its
// second burst than in its first, and ten times as long in its third. The burst after the preparation takes
// ten times as long, too.
class FakeTimer final : public BurstTimer {
 public:
  double seconds_per_burst = 0, seconds_to_prepare = 0;
  std::string failing;                // the candidate of this name cannot be launched
  std::vector<std::string> prepared;  // names, of all problems
  std::vector<std::size_t> order;     // of the bursts
  std::vector<double> answers;        // microseconds of cuBLASLt's

  std::size_t prepare(const ChoiceProblem&, const std::vector<ChoiceCandidate>& candidates) override {
    now_ += seconds_to_prepare;
    candidates_ = candidates;
    rounds_.assign(candidates.size(), 0);
    is_first_ = true;
    for (const ChoiceCandidate& candidate : candidates) prepared.push_back(candidate.name());
    return answers.size();
  }
  double burst(std::size_t i) override {
    now_ += seconds_per_burst;
    order.push_back(i);
    if (i >= candidates_.size()) return answers[i - candidates_.size()];
    const bool is_first = std::exchange(is_first_, false);
    if (candidates_[i].name() == failing) return 0;
    if (is_first) return candidates_[i].cost * 1e-7;
    const double factor[] = {1.01, 1, 10};
    return candidates_[i].cost * 1e-8 * factor[rounds_[i]++ % 3];
  }
  double seconds() override { return now_; }

 private:
  std::vector<ChoiceCandidate> candidates_;
  std::vector<int> rounds_;
  bool is_first_ = true;
  double now_ = 1000;
};

std::vector<ChoiceTimes> recorded_by(FakeTimer& timer, const std::vector<ChoiceProblem>& problems,
                                     const ChoiceRecorderRules& rules = {}) {
  std::vector<ChoiceTimes> result;
  record_choices(kernels(), h200, problems, timer, rules, &result);
  return result;
}

TEST(ChoiceProblems, AreAFunctionOfTheSeedAndAPrefixOfMore) {
  const std::vector<ChoiceProblem> few = draw_choice_problems(7, 40), more = draw_choice_problems(7, 200);
  int same_as_other_seed = 0;
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(describe(few[i]), describe(more[i]));
    same_as_other_seed += static_cast<int>(describe(few[i]) == describe(draw_choice_problems(8, 40)[i]));
  }
  EXPECT_LT(same_as_other_seed, 3);
}

TEST(ChoiceProblems, AreValidAndWhatTheirGroupSays) {
  std::map<std::string, int> count;
  std::set<std::string> layouts, types;
  for (const ChoiceProblem& problem : draw_choice_problems(1, 2200)) {
    const Shape& s = problem.shape;
    ++count[problem.group];
    types.insert(name(problem.types));
    const Status status = validate(gemm_of(problem));
    ASSERT_TRUE(status) << describe(problem) << ": " << status.message();
    EXPECT_GE(std::min(s.n, s.k), 16) << describe(problem);
    EXPECT_LE(std::max({s.m, s.n, s.k}), problem.group == "tokens" ? 28672 : 12288) << describe(problem);
    const std::int64_t multiple = 16 / static_cast<std::int64_t>(bytes(problem.types.input));
    const bool is_aligned = s.lda % multiple == 0 && s.ldb % multiple == 0 && s.ldc % 8 == 0;
    EXPECT_EQ(is_aligned, problem.group != "unaligned") << describe(problem);
    if (problem.group == "decode") {
      EXPECT_LE(s.m, 128);
    } else {
      EXPECT_GE(s.m, problem.group == "tokens" ? 64 : problem.group == "large" ? 2048 : 16);
    }
    if (problem.group == "aligned") layouts.insert(name(problem.layout));
  }
  EXPECT_EQ(count, (std::map<std::string, int>{{"aligned", 600},
                                               {"decode", 400},
                                               {"tokens", 300},
                                               {"large", 100},
                                               {"unaligned", 300},
                                               {"fp8", 200},
                                               {"s8", 100},
                                               {"tf32", 100},
                                               {"f16_sums", 100}}));
  EXPECT_EQ(layouts, (std::set<std::string>{"nn", "nt", "tn", "tt"}));
  EXPECT_EQ(types, (std::set<std::string>{"bf16_f32_bf16", "bf16_f32_f32", "e4m3_f32_bf16", "e4m3_f32p_bf16",
                                          "f16_f16_f16", "f16_f32_f16", "f16_f32_f32", "s8_s32_s32",
                                          "tf32_f32_f32"}));
}

TEST(ChoiceProblems, OfNamedGroupsTakeTurns) {
  std::set<std::string> types;
  int number = 0;
  for (const ChoiceProblem& problem : draw_choice_problems(1, 80, {"large_types", "s8"})) {
    const std::string expected = number++ % 2 == 0 ? "large_types" : "s8";
    ASSERT_EQ(problem.group, expected);
    if (problem.group == "s8") continue;
    const Shape& s = problem.shape;
    const Status status = validate(gemm_of(problem));
    EXPECT_TRUE(status) << describe(problem) << ": " << status.message();
    EXPECT_GE(std::min({s.m, s.n, s.k}), 2048) << describe(problem);
    EXPECT_LE(std::max({s.m, s.n, s.k}), 12288) << describe(problem);
    EXPECT_EQ((s.m | s.n | s.k) % 64, 0) << describe(problem);
    types.insert(name(problem.types));
  }
  EXPECT_EQ(types, (std::set<std::string>{"e4m3_f32_bf16", "e4m3_f32p_bf16", "f16_f16_f16", "s8_s32_s32",
                                          "tf32_f32_f32"}));
}

TEST(ChoiceProblems, OfFewTilesHaveAtMost66TilesAndALongK) {
  std::set<std::int64_t> tiles;
  for (const ChoiceProblem& problem : draw_choice_problems(1, 400, {"few_tiles"})) {
    ASSERT_EQ(problem.group, "few_tiles");
    const Shape& s = problem.shape;
    const Status status = validate(gemm_of(problem));
    EXPECT_TRUE(status) << describe(problem) << ": " << status.message();
    EXPECT_GE(std::min(s.m, s.n), 64) << describe(problem);
    EXPECT_GE(s.k, 1024) << describe(problem);
    EXPECT_EQ((s.m | s.n | s.k) % 8, 0) << describe(problem);
    tiles.insert((s.m + 127) / 128 * ((s.n + 127) / 128));
  }
  EXPECT_EQ(*tiles.begin(), 1);
  EXPECT_GE(*tiles.rbegin(), 60);
  EXPECT_LE(*tiles.rbegin(), 66);
}

// As many extents below the geometric mean of the limits as above it.
TEST(ChoiceProblems, HaveLogUniformExtents) {
  int small = 0, all = 0;
  for (const ChoiceProblem& problem : draw_choice_problems(3, 1600)) {
    if (problem.group != "aligned") continue;
    for (const std::int64_t extent : {problem.shape.m, problem.shape.n, problem.shape.k}) {
      small += static_cast<int>(static_cast<double>(extent) < std::sqrt(16.0 * 12288.0));
      ++all;
    }
  }
  EXPECT_NEAR(static_cast<double>(small) / all, 0.5, 0.05);
}

TEST(ChoiceCandidates, AreTheKernelsThatComputeTheProblemWithAndWithoutAWorkspace) {
  const std::vector<Kernel>& list = kernels();
  Gemm p = test::problem(511, 1024, 2048);
  const std::vector<ChoiceCandidate> aligned = choice_candidates(list, p, h200);
  Gemm with_workspace = p;
  with_workspace.workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40U);
  with_workspace.workspace_bytes = std::size_t{1} << 30U;
  std::size_t accepting = 0;
  for (const Kernel& kernel : list)
    accepting += static_cast<std::size_t>(is_offered(kernel, p) && accepts(kernel, with_workspace, h200));
  EXPECT_EQ(aligned.size(), accepting);
  EXPECT_GT(accepting, 10U);
  for (const ChoiceCandidate& candidate : aligned) {
    EXPECT_FALSE(candidate.has_copies) << candidate.name();
    EXPECT_EQ(candidate.workspace_bytes, candidate.kernel->workspace_bytes(h200)) << candidate.name();
  }
  EXPECT_EQ(aligned.front().name(), choice_of(list, p, h200));

  p.a.ld += 1;
  std::set<std::string> names;
  int copying = 0;
  double least = INFINITY;
  for (const ChoiceCandidate& candidate : choice_candidates(list, p, h200)) {
    EXPECT_TRUE(names.insert(candidate.name()).second) << candidate.name();
    copying += static_cast<int>(candidate.has_copies);
    least = std::min(least, candidate.cost);
    EXPECT_GE(candidate.cost, least) << "cheapest first";
  }
  EXPECT_GT(copying, 10);
  EXPECT_GT(names.size(), static_cast<std::size_t>(copying)) << "some take the operands as they are";
  EXPECT_EQ(names.count(choice_of(list, p, h200)), 1U);
}

TEST(ChoiceRecorder, TimesWhatIsWorthItInTurnsAndKeepsMedians) {
  const std::vector<Kernel>& list = kernels();
  const std::vector<ChoiceProblem> problems = draw_choice_problems(1, 16);
  FakeTimer timer;
  const std::vector<ChoiceTimes> recorded = recorded_by(timer, problems);
  ASSERT_EQ(recorded.size(), problems.size());
  std::size_t burst = 0, prepared = 0, left_out = 0;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    EXPECT_EQ(describe(recorded[i].problem), describe(problems[i]));
    const std::vector<ChoiceTime>& times = recorded[i].times;
    const Gemm p = gemm_of(problems[i]);
    std::map<std::string, double> cost;
    std::map<std::string, bool> may_be;
    for (const ChoiceCandidate& candidate : choice_candidates(list, p, h200)) {
      cost[candidate.name()] = candidate.cost;
      may_be[candidate.name()] = may_be_chosen(*candidate.kernel, candidate.planned);
    }
    const std::string chosen = choice_of(list, p, h200);
    double least = INFINITY;
    for (const auto& [name, value] : cost) least = std::min(least, value);
    std::size_t worth_it = 0;
    for (const auto& [name, value] : cost)
      worth_it += static_cast<std::size_t>(
          may_be.at(name) && (value <= ChoiceRecorderRules{}.cost_factor * least || name == chosen));
    EXPECT_EQ(times.size(), worth_it);
    for (const ChoiceTime& time : times) {
      EXPECT_DOUBLE_EQ(time.microseconds, 1.01e-8 * cost.at(time.name)) << "the median of the rounds";
      EXPECT_EQ(timer.prepared[prepared++], time.name);
    }
    double fastest = INFINITY;
    for (const ChoiceTime& time : times) fastest = std::min(fastest, time.microseconds);
    const ChoiceRecorderRules rules;
    ASSERT_EQ(timer.order.at(burst++), 0U) << "a burst that does not count";
    for (int round = 0; round < rules.bursts; ++round) {
      for (std::size_t j = 0; j < times.size(); ++j) {
        if (round == 0 || times[j].microseconds <= rules.time_factor * fastest) {
          ASSERT_EQ(timer.order.at(burst++), j);
        } else {
          ++left_out;
        }
      }
    }
  }
  EXPECT_EQ(burst, timer.order.size());
  EXPECT_GT(left_out, 0U);
}

TEST(ChoiceRecorder, StopsInTimeAndKeepsWhatIsFinished) {
  const std::vector<ChoiceProblem> problems = draw_choice_problems(1, 48);
  FakeTimer timer;
  timer.seconds_per_burst = 0.01;
  ChoiceRecorderRules rules;
  rules.seconds = 5;
  std::size_t finished = 0;  // problems that a caller could have written to a file
  rules.finished = [&] { ++finished; };
  const double begin = timer.seconds();
  const std::vector<ChoiceTimes> recorded = recorded_by(timer, problems, rules);
  EXPECT_LT(timer.seconds(), begin + 5.02);
  EXPECT_GT(timer.seconds(), begin + 4.98);
  EXPECT_GT(recorded.size(), 0U);
  EXPECT_LT(recorded.size(), problems.size());
  EXPECT_EQ(finished, recorded.size());
  for (const ChoiceTimes& times : recorded) EXPECT_GT(times.times.size(), 1U);
}

TEST(ChoiceRecorder, BeginsNoBurstAfterAPreparationThatTookTooLong) {
  FakeTimer timer;
  timer.seconds_to_prepare = 10;
  ChoiceRecorderRules rules;
  rules.seconds = 5;
  EXPECT_TRUE(recorded_by(timer, draw_choice_problems(1, 4), rules).empty());
  EXPECT_FALSE(timer.prepared.empty());
  EXPECT_TRUE(timer.order.empty());
}

TEST(ChoiceRecorder, KeepsTheProblemsBeforeAFailure) {
  class Failing final : public BurstTimer {
   public:
    int problems = 0;
    std::size_t prepare(const ChoiceProblem&, const std::vector<ChoiceCandidate>&) override {
      if (++problems == 4) throw Failure("the device is lost");
      return 0;
    }
    double burst(std::size_t i) override { return static_cast<double>(i + 1); }
    double seconds() override { return 0; }
  } timer;
  std::vector<ChoiceTimes> result;
  EXPECT_THROW(record_choices(kernels(), h200, draw_choice_problems(1, 8), timer, {}, &result), Failure);
  EXPECT_EQ(result.size(), 3U);
}

TEST(ChoiceRecorder, LeavesOutWhatCannotBeLaunched) {
  const std::vector<ChoiceProblem> problems = draw_choice_problems(1, 1);
  FakeTimer timer;
  const std::size_t all = recorded_by(timer, problems).front().times.size();
  timer.failing = choice_of(kernels(), gemm_of(problems.front()), h200);
  const std::vector<ChoiceTimes> recorded = recorded_by(timer, problems);
  EXPECT_EQ(recorded.front().times.size(), all - 1);
  for (const ChoiceTime& time : recorded.front().times) EXPECT_NE(time.name, timer.failing);
}

TEST(ChoiceRecorder, KeepsTheFastestAnswerOfCublasLt) {
  const std::vector<ChoiceProblem> problems = draw_choice_problems(1, 2);
  FakeTimer timer;
  timer.answers = {9, 0, 7, 8};  // one of them cannot be launched
  for (const ChoiceTimes& times : recorded_by(timer, problems)) EXPECT_EQ(times.cublaslt_us, 7);
  timer.answers.clear();
  for (const ChoiceTimes& times : recorded_by(timer, problems)) EXPECT_EQ(times.cublaslt_us, 0);
}

ChoiceRecord example() {
  ChoiceRecord record;
  record.seed = 9;
  record.device = h200;
  record.commit = "0123456";
  record.machine = "NVIDIA H200";
  record.toolkit = "CUDA 13.0";
  record.date = "2026-11-23";
  const std::vector<ChoiceProblem> problems = draw_choice_problems(9, 16);
  for (const ChoiceProblem& problem : problems)
    record.problems.push_back(
        {problem, {{"slow", 30}, {"fast", 10}, {"fast + padded copies", 12.345678}}, 0});
  record.problems[1].cublaslt_us = 20;
  return record;
}

TEST(ChoiceRecord, IsReadAsItWasWritten) {
  const ChoiceRecord record = example(), read = read_choice_record(to_text(record));
  EXPECT_EQ(read.seed, record.seed);
  EXPECT_EQ(read.commit, record.commit);
  EXPECT_EQ(read.machine, record.machine);
  EXPECT_EQ(read.toolkit, record.toolkit);
  EXPECT_EQ(read.date, record.date);
  EXPECT_EQ(read.device.sm, h200.sm);
  EXPECT_EQ(read.device.multiprocessors, h200.multiprocessors);
  EXPECT_EQ(read.device.shared_bytes_per_block_optin, h200.shared_bytes_per_block_optin);
  EXPECT_EQ(read.device.l2_bytes, h200.l2_bytes);
  EXPECT_EQ(read.device.memory_bytes_per_clock, h200.memory_bytes_per_clock);
  ASSERT_EQ(read.problems.size(), record.problems.size());
  for (std::size_t i = 0; i < read.problems.size(); ++i) {
    EXPECT_EQ(describe(read.problems[i].problem), describe(record.problems[i].problem));
    EXPECT_EQ(read.problems[i].problem.group, record.problems[i].problem.group);
    const std::vector<ChoiceTime>& times = read.problems[i].times;
    ASSERT_EQ(times.size(), 3U);
    EXPECT_EQ(times[0].name, "fast");
    EXPECT_EQ(times[1].name, "fast + padded copies");
    EXPECT_EQ(times[1].microseconds, 12.35);
    EXPECT_EQ(times[2].name, "slow");
    EXPECT_EQ(read.problems[i].cublaslt_us, i == 1 ? 20 : 0);
  }
  EXPECT_EQ(to_text(read), to_text(read_choice_record(to_text(read))));
}

TEST(ChoiceRecord, SaysHowTilesWereFitted) {
  ChoiceRecord record = example();
  EXPECT_FALSE(read_choice_record(to_text(record)).narrowest);
  record.narrowest = {{"fast", 72}, {"not timed", 8}};
  const std::string text = to_text(record);
  const ChoiceRecord read = read_choice_record(text);
  ASSERT_TRUE(read.narrowest);
  EXPECT_EQ(*read.narrowest, (std::map<std::string, int>{{"fast", 72}}));
  EXPECT_EQ(to_text(read), text);
  const std::size_t last = text.find("  0\n ],\n \"problems\"");
  ASSERT_NE(last, std::string::npos) << "that of `slow`";
  EXPECT_THROW(read_choice_record(std::string(text).erase(last - 2, 5)), Failure) << "one too few";
}

TEST(ChoiceRecord, JudgesKernelsAsTheyWereFittedThen) {
  const std::vector<Kernel>& list = kernels();
  const auto fitted =
      std::find_if(list.begin(), list.end(), [](const Kernel& k) { return k.narrowest != 0; });
  ASSERT_NE(fitted, list.end());
  const auto number = static_cast<std::size_t>(fitted - list.begin());
  ChoiceRecord record;
  EXPECT_EQ(kernels_as_recorded(record, list)[number].narrowest, fitted->narrowest) << "does not say";
  record.narrowest = narrowest_tiles(list);
  EXPECT_EQ(kernels_as_recorded(record, list)[number].narrowest, fitted->narrowest);
  record.narrowest->at(fitted->name) += 8;
  EXPECT_EQ(kernels_as_recorded(record, list)[number].narrowest, fitted->narrowest + 8);
  record.narrowest->erase(fitted->name);
  EXPECT_EQ(kernels_as_recorded(record, list)[number].narrowest, 0);
}

TEST(ChoiceRecord, SaysWhetherAForeignKernelWasBetween) {
  ChoiceRecord record = example();
  record.foreign_us = 0.96;
  EXPECT_NE(to_text(record).find("\"mode\": \"burst\""), std::string::npos);
  EXPECT_FALSE(read_choice_record(to_text(record)).between);
  EXPECT_EQ(read_choice_record(to_text(record)).foreign_us, 0) << "there was none";
  record.between = true;
  EXPECT_NE(to_text(record).find("\"mode\": \"between\""), std::string::npos);
  EXPECT_TRUE(read_choice_record(to_text(record)).between);
  EXPECT_EQ(read_choice_record(to_text(record)).foreign_us, 0.96);
}

// As the committed ones of before there were two modes.
TEST(ChoiceRecord, WithoutAModeIsOfBursts) {
  std::string text = to_text(example());
  for (const std::string line : {" \"mode\": \"burst\",\n", " \"foreign_us\": null,\n"}) {
    ASSERT_NE(text.find(line), std::string::npos) << text.substr(0, 400);
    text.erase(text.find(line), line.size());
  }
  EXPECT_FALSE(read_choice_record(text).between);
}

// 200 problems, with every kernel of the library that would be timed.
TEST(ChoiceRecord, IsAFileOfBelowHalfAMegabyte) {
  FakeTimer timer;
  ChoiceRecord record;
  record.problems = recorded_by(timer, draw_choice_problems(1, 200));
  EXPECT_EQ(record.problems.size(), 200U);
  EXPECT_LT(to_text(record).size(), 500'000U);
}

TEST(ChoiceRecord, RefusesWhatIsNone) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      read_choice_record(text);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "read";
  };
  const std::string good = to_text(example());
  const auto with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(refusal(good), "read");
  EXPECT_EQ(refusal(""), "not a record of choices: it is empty");
  EXPECT_EQ(refusal("{"), "not a record of choices: it is not JSON from byte 2 on");
  for (const std::string& other : {std::string("[]"), std::string("{}"), with("gemm_choices", "gemm")})
    EXPECT_EQ(refusal(other),
              "not a record of choices: it must hold the object that tenon_gemm_benchmark --choices writes");
  EXPECT_EQ(refusal(with("\"burst\"", "\"cold\"")), "the mode is 'cold' but must be burst or between");
  EXPECT_NE(refusal(with("\"burst\"", "\"between\"")).find("not a record of choices: "), std::string::npos)
      << "without the time of the foreign kernel";
  EXPECT_NE(refusal(with("[0,10.0]", "[3,10.0]")).find("is of kernel number 3, but there are 3 kernels"),
            std::string::npos);
  EXPECT_NE(refusal(with("[0,10.0]", "[0,0.0]")).find("is not above 0"), std::string::npos);
  EXPECT_NE(refusal(with("[0,10.0]", "[0,\"10\"]")).find("not a record of choices: "), std::string::npos);
}

TEST(Regret, IsTheTimeOfTheChoiceOverTheLeast) {
  const ChoiceRecord record = example();
  int problems = 0;
  const auto chosen = [&](const ChoiceTimes&) -> std::string {
    const char* const names[] = {"fast", "slow", "fast + padded copies", "none"};
    return names[problems++ % 4];
  };
  const Regrets regrets = regrets_of(record, "aligned", chosen);
  EXPECT_EQ(problems, 4);
  ASSERT_EQ(regrets.regrets.size(), 3U);
  EXPECT_EQ(regrets.regrets[0].ratio, 1);
  EXPECT_EQ(regrets.regrets[1].ratio, 3);
  EXPECT_DOUBLE_EQ(regrets.regrets[2].ratio, 1.2345678);
  ASSERT_EQ(regrets.unknown.size(), 1U);
  EXPECT_EQ(regrets.unknown[0].second, "none");
  EXPECT_DOUBLE_EQ(geometric_mean(regrets.regrets), std::pow(3 * 1.2345678, 1.0 / 3));
  EXPECT_EQ(worst(regrets.regrets)->chosen, "slow");
  EXPECT_EQ(worst({}), nullptr);
  EXPECT_EQ(geometric_mean({}), 1);
}

TEST(Regret, IsPrintedForEachGroup) {
  FakeTimer timer;
  ChoiceRecord record;
  record.device = h200;
  record.problems = recorded_by(timer, draw_choice_problems(1, 16));
  for (ChoiceTimes& times : record.problems) {
    const std::string chosen = choice_of(kernels(), gemm_of(times.problem), h200);
    for (ChoiceTime& time : times.times) time.microseconds = time.name == chosen ? 15 : 10;
  }
  const std::string table = regret_table(record, kernels());
  EXPECT_NE(table.find("\ndecode            4  1.500       -       -  1.500  "), std::string::npos) << table;
  EXPECT_NE(table.find("\ntf32              1  1.500       -       -  1.500  tf32_f32_f32 tn "),
            std::string::npos)
      << table;
  // Of the problems of a group, those count that cuBLASLt has.
  for (ChoiceTimes& times : record.problems) {
    if (times.problem.group == "tf32") times.cublaslt_us = 12;
  }
  EXPECT_NE(regret_table(record, kernels()).find("\ntf32              1  1.500   0.800   1.200  1.500  "),
            std::string::npos)
      << regret_table(record, kernels());
  EXPECT_EQ(table.find("no time of"), std::string::npos) << table;
  const std::string chosen = choice_of(kernels(), gemm_of(record.problems[0].problem), h200);
  for (ChoiceTime& time : record.problems[0].times) {
    if (time.name == chosen) time.name = "gone";
  }
  EXPECT_NE(regret_table(record, kernels()).find("\n  no time of " + chosen + ", chosen for "),
            std::string::npos);
}

TEST(ChoiceRecord, SaysWhatIsLostWithoutAKernel) {
  ChoiceRecord record;
  const ChoiceProblem problem = draw_choice_problems(1, 1).front();
  // Entries that differ in their clusters, and copies, are one compiled kernel.
  record.problems.push_back(
      {problem, {{"a_c2x1", 10}, {"a_c1x2", 12}, {"b", 20}, {"b + padded copies", 15}}, 0});
  record.problems.push_back({problem, {{"a", 30}, {"b", 10}, {"c", 11}}, 0});
  record.problems.push_back({problem, {{"c", 5}}, 0});  // nothing to compare with
  const std::vector<KernelLoss> losses = losses_without(record);
  ASSERT_EQ(losses.size(), 3U);
  EXPECT_EQ(losses[0].kernel, "c");
  EXPECT_EQ(losses[0].problems, 1);
  EXPECT_DOUBLE_EQ(losses[0].mean, 1);
  EXPECT_EQ(losses[1].kernel, "b");  // 11 / 10 in one of two problems
  EXPECT_DOUBLE_EQ(losses[1].mean, std::sqrt(1.1));
  EXPECT_DOUBLE_EQ(losses[1].worst, 1.1);
  EXPECT_EQ(losses[2].kernel, "a");  // 15 / 10
  EXPECT_DOUBLE_EQ(losses[2].mean, std::sqrt(1.5));
}

}  // namespace
}  // namespace tenon::microbench
