// tenon_gemm_benchmark: the library's kernels against cuBLASLt, checked and timed in one process.
//
// For every types x layout x shape it draws operands, computes the expected product, picks and measures
// cuBLASLt's best answer, checks each kernel on a poisoned output and measures it, and measures cuBLASLt once
// more.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "command_line/name_pattern.hpp"
#include "gemm/kernel.hpp"
#include "host/device.hpp"
#include "microbench/case_runner.hpp"
#include "microbench/choice_recorder.hpp"
#include "microbench/choice_timer.hpp"
#include "microbench/machine.hpp"
#include "microbench/random_suites.hpp"
#include "microbench/record.hpp"
#include "microbench/replace_file.hpp"
#include "microbench/standard_output.hpp"
#include "microbench/suites.hpp"
#include "microbench/usage.hpp"

namespace {

using namespace tenon::microbench;

struct Options {
  std::string suite, shapes = "4096,8192", types = "bf16", layouts = "tn", mode = "both", json, commit;
  std::vector<std::string> kernels, groups;
  bool best = false, quick = false, between = false, cold = false;
  Ways ways;               // of mode, between and cold
  int choice_seconds = 0;  // 0: compare with cuBLASLt instead
  std::uint64_t seed = 1;
  int problems = 200;
};

RunnerOptions runner_options(const Options& options) {
  RunnerOptions result;
  result.ways = options.ways;
  return options.quick ? quick(result) : result;
}

std::vector<Candidate> chosen(const Options& options, const Types& types, const Layout& layout) {
  std::vector<Candidate> result;
  if (options.best) result.push_back(selection());
  std::vector<std::string> patterns = options.kernels;
  if (patterns.empty() && !options.best) patterns.emplace_back("*");
  for (Candidate& candidate : candidates(types, layout)) {
    for (const std::string& pattern : patterns) {
      if (tenon::command::NamePattern(pattern).matches(candidate.name)) {
        result.push_back(candidate);
        break;
      }
    }
  }
  return result;
}

// Throws for a pattern that matches no contender of any types and layout: it is a misspelling.
void check_patterns(const Options& options, const std::vector<Product>& cases) {
  for (const std::string& pattern : options.kernels) {
    try {
      const tenon::command::NamePattern valid(pattern);
    } catch (const std::invalid_argument& error) {
      throw Failure(std::string("--kernel ") + error.what());
    }
    Options alone;
    alone.kernels = {pattern};
    bool found = false;
    for (const Product& x : cases) found = found || !chosen(alone, x.types, x.layout).empty();
    if (!found)
      throw Failure("--kernel is '" + pattern + "' but no kernel of that name takes these types and layouts");
  }
}

// Takes from the suite what the command line does not set.
void apply_suite(Options& options, const CLI::App& app) {
  const Suite* suite = find_suite(options.suite);
  if (find_random_suite(options.suite) != nullptr) {
    if (app.count("--mode") == 0) options.mode = "burst,between";
    if (app.count("--kernel") == 0) options.best = true;
  }
  if (suite == nullptr) return;
  const auto unless_given = [&](const char* option, auto& value, const auto& of_suite) {
    if (app.count(option) == 0) value = of_suite;
  };
  unless_given("--shapes", options.shapes, suite->shapes);
  unless_given("--types", options.types, suite->types);
  unless_given("--layout", options.layouts, suite->layouts);
  unless_given("--mode", options.mode, name(suite->ways));
  if (app.count("--kernel") == 0) unless_given("--best", options.best, suite->best);
}

std::string suite_lines() {
  std::string text = "Suites, each the file results/<machine>/SUITE.json:\n";
  for (const Suite& suite : suites()) {
    std::string line = "  " + suite.name;
    line.resize(14, ' ');
    text += line + suite.what + " (" + name(suite.ways) + ")\n";
  }
  text += "Products drawn by --seed, what gemm() selects (burst,between):\n";
  for (const RandomSuite& suite : random_suites()) {
    std::string line = "  " + suite.name;
    line.resize(16, ' ');
    text += line + suite.what + "\n";
  }
  return text;
}

// Returns the exit status, or 3 if standard output was lost.
int ended(int status) {
  const std::string lost = lost_standard_output();
  if (lost.empty()) return status;
  std::fprintf(stderr, "tenon_gemm_benchmark: %s\n", lost.c_str());
  return 3;
}

// Every types with every layout with every shape, in this order.
std::vector<Product> all_products(const Options& options) {
  std::vector<Product> cases;
  for (const Types& types : parse_types(options.types)) {
    for (const Layout& layout : parse_layouts(options.layouts)) {
      for (const Shape& shape : parse_shapes(options.shapes))
        cases.push_back({types, layout, with_leading_dimensions(shape, layout)});
    }
  }
  return cases;
}

// Returns the number of cases that could not be measured.
int measure(const Options& options, const std::vector<Product>& cases, CaseRunner& runner,
            std::vector<Record>& records) {
  int lost_cases = 0;
  for (const Product& x : cases) {
    const std::vector<Candidate> contenders = chosen(options, x.types, x.layout);
    if (contenders.empty()) {
      std::fprintf(stderr, "%s %s: no kernel of that name takes these types and this layout\n",
                   name(x.types).c_str(), name(x.layout).c_str());
      continue;
    }
    try {
      for (Record& record : runner.run(x.types, x.layout, x.shape, contenders)) {
        record.commit = options.commit;
        record.date = today();
        records.push_back(record);
      }
    } catch (const Failure& failure) {
      std::fprintf(stderr, "  this case ends here: %s\n", failure.what());
      ++lost_cases;
      cudaGetLastError();
      require(cudaDeviceSynchronize(), "the device is lost");
    }
    if (!options.json.empty())
      write_json(options.json, records);  // after each case, since a later one may end the program
  }
  return lost_cases;
}

void run(const Options& options, const std::vector<Product>& cases) {
  std::vector<Record> records;
  CaseRunner runner(runner_options(options));
  int lost_cases = 0;
  try {
    lost_cases = measure(options, cases, runner, records);
  } catch (const Failure&) {
    std::fputs(table(records).c_str(), stdout);
    throw;
  }
  std::fputs(table(records).c_str(), stdout);
  if (runner.wrong_results() > 0) {
    throw Failure(std::to_string(runner.wrong_results()) +
                  " contenders failed or computed something wrong: see above");
  }
  if (lost_cases > 0) throw Failure(std::to_string(lost_cases) + " cases could not be measured: see above");
  if (records.empty()) throw Failure("nothing was measured");
}

// Records the time of every kernel for problems drawn at random, and prints what gemm()'s choice costs.
void record_choices(const Options& options) {
  ChoiceRecord record;
  record.narrowest = narrowest_tiles(tenon::kernels());
  record.seed = options.seed;
  record.between = options.between;
  record.commit = options.commit;
  record.date = today();
  const Machine machine = describe_machine(0);
  record.machine = machine.name;
  record.toolkit = machine.toolkit;
  if (const tenon::Status status = tenon::describe_current_device(&record.device); !status)
    throw Failure(status.message());
  CudaBurstTimer timer(options.between);
  ChoiceRecorderRules rules;
  rules.seconds = options.choice_seconds;
  const auto write = [&] {
    record.foreign_us = timer.foreign_us();
    if (const std::string lost = replace_file(options.json, to_text(record)); !lost.empty())
      throw Failure(lost);
  };
  // Now and then, so that a run that is ended from outside leaves what it has measured.
  double written = timer.seconds();
  rules.finished = [&] {
    constexpr double seconds_between = 10;
    if (timer.seconds() - written < seconds_between) return;
    write();
    written = timer.seconds();
  };
  const auto write_all = [&] {
    write();
    std::fputs(regret_table(record, tenon::kernels()).c_str(), stdout);
  };
  try {
    record_choices(tenon::kernels(), record.device,
                   draw_choice_problems(options.seed, options.problems, options.groups), timer, rules,
                   &record.problems);
  } catch (const Failure&) {
    if (!record.problems.empty()) write_all();
    throw;
  }
  if (record.problems.empty()) throw Failure("no problem was finished in time");
  write_all();
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_descriptors();
  Options options;
  CLI::App app(
      "GEMM kernels against cuBLASLt: burst and sustained TFLOP/s, each contender measured alone, results "
      "checked",
      "tenon_gemm_benchmark");
  std::vector<std::string> names;
  for (const Suite& suite : suites()) names.push_back(suite.name);
  for (const RandomSuite& suite : random_suites()) names.push_back(suite.name);
  app.add_option("--suite", options.suite,
                 "a named set of cases, listed below; other options override parts of it")
      ->check(CLI::IsMember(names));
  app.footer(
      suite_lines() +
      "Examples:\n"
      "  tenon_gemm_benchmark --shapes 4096,8192 --types bf16 --layout tn --best\n"
      "  tenon_gemm_benchmark --suite main --commit \"$(git rev-parse --short HEAD)\" --json main.json\n"
      "  tenon_gemm_benchmark --shapes 64:4096:4096 --types e4m3 --kernel 'wgmma_*_splitk2' --quick --mode "
      "burst\n"
      "  tenon_gemm_benchmark --suite random --seed 7 --problems 50 --json random.json\n"
      "  tenon_gemm_benchmark --shapes 512,64:4096:4096 --best --mode burst,between,cold\n"
      "  tenon_gemm_benchmark --suite layouts --between --quick\n"
      "  tenon_gemm_benchmark --choices 120 --between --json choices.json\n"
      "  tenon_gemm_benchmark --choices 120 --groups large,large_types --json large.json\n"
      "  tenon_gemm_benchmark --choices 120 --json choices.json --commit \"$(git rev-parse --short HEAD)\"\n"
      "Exit status: 0 done and correct, 1 wrong result or a case that could not be measured, 2 bad "
      "usage, 3 no GPU, or standard output cannot be written.");
  app.add_option("--shapes", options.shapes,
                 "size, m:n:k, m:n:k:ld or m:n:k:lda:ldb:ldc, separated by commas")
      ->capture_default_str();
  app.add_option(
         "--types", options.types,
         "input_accumulate_output, separated by commas: bf16, f16_f32_f32, f16_f16, f32, tf32, f64, s8, "
         "e4m3_f32_bf16, "
         "e4m3_f32p_bf16 (accumulators promoted), e4m3_e5m2_f32_bf16 (A and B)")
      ->capture_default_str();
  app.add_option("--layout", options.layouts, "tn, nn, tt, nt, separated by commas, or all")
      ->capture_default_str();
  app.add_option("--kernel", options.kernels,
                 std::string("patterns of whole kernel names; every kernel if none is given: ") +
                     tenon::command::NamePattern::syntax);
  app.add_flag("--best", options.best, "what gemm() selects, workspace and copies included");
  app.add_option(
         "--mode", options.mode,
         "some of burst (back to back), between (a foreign kernel follows each product), cold (products "
         "below 50 us whose operands are not in the L2), sustained, separated by commas; or both: "
         "burst,sustained")
      ->capture_default_str();
  app.add_flag("--between", options.between, "between too; of --choices, instead of bursts");
  app.add_flag("--cold", options.cold, "cold too");
  app.add_flag("--quick", options.quick,
               "3 bursts with 10 ms between them, 0.25 s sustained, cuBLASLt picked from one burst each");
  app.add_option("--json", options.json, "file for the results, one object a measurement");
  app.add_option("--commit", options.commit, "commit to store with the results");
  CLI::Option* const choices =
      app.add_option("--choices", options.choice_seconds,
                     "instead: time every kernel on problems drawn at random, for so many seconds, to judge "
                     "gemm()'s choice by; needs --json")
          ->check(CLI::Range(1, 36000));
  for (const char* other :
       {"--suite", "--shapes", "--types", "--layout", "--kernel", "--best", "--mode", "--quick", "--cold"})
    choices->excludes(app.get_option(other));
  app.add_option("--groups", options.groups,
                 "of problems that --choices draws in turns (default: all but large_types and few_tiles)")
      ->delimiter(',')
      ->needs(choices)
      ->check(CLI::IsMember(choice_groups()));
  app.add_option("--seed", options.seed, "of the products of --choices and of the suites of drawn products")
      ->capture_default_str();
  app.add_option("--problems", options.problems, "so many of them; of --choices at most")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  try {
    parse(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = exit_of(app, error);
    return status == 0 ? ended(0) : status;
  }
  const RandomSuite* const drawn = find_random_suite(options.suite);
  apply_suite(options, app);
  std::vector<Product> cases;
  try {
    for (const char* option : {"--seed", "--problems"}) {
      if (app.count(option) != 0 && drawn == nullptr && options.choice_seconds == 0)
        throw Failure(std::string(option) + " is for --choices and for the suites of drawn products");
    }
    for (const char* option : {"--shapes", "--types", "--layout"}) {
      if (app.count(option) != 0 && drawn != nullptr)
        throw Failure(std::string(option) + " is given, but the suite " + drawn->name + " draws it");
    }
    options.ways = parse_ways(options.mode);
    options.ways.between |= options.between;
    options.ways.cold |= options.cold;
    cases = drawn != nullptr ? drawn->draw(options.seed, options.problems) : all_products(options);
    check_patterns(options, cases);
    if (options.choice_seconds > 0 && options.json.empty())
      throw Failure("--choices needs --json: its times are for a test to read");
    if (const std::string why = options.json.empty() ? "" : unwritable(options.json); !why.empty())
      throw Failure("--json: " + why);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "tenon_gemm_benchmark: %s\n", failure.what());
    return 2;
  }
  if (!has_gpu("tenon_gemm_benchmark")) return 3;
  try {
    if (options.choice_seconds > 0) {
      record_choices(options);
    } else {
      run(options, cases);
    }
  } catch (const Failure& failure) {
    std::fprintf(stderr, "tenon_gemm_benchmark: %s\n", failure.what());
    return ended(1);
  }
  return ended(0);
}
