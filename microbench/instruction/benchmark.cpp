// tenon_instruction_benchmark: the cost of one instruction in cycles, measured with kernels whose timed loops
// the build has verified in machine code.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line/name_pattern.hpp"
#include "microbench/instruction/result.hpp"
#include "microbench/instruction/runner.hpp"
#include "microbench/replace_file.hpp"
#include "microbench/standard_output.hpp"
#include "microbench/usage.hpp"

namespace {

using namespace tenon::microbench;
using namespace tenon::microbench::instruction;
using Clock = std::chrono::steady_clock;

constexpr const char* program = "tenon_instruction_benchmark";

struct Options {
  std::vector<std::string> families, measures, axes, filters;
  bool quick = false, list = false, proofs = false;
  double budget = 280;  // seconds
  std::string json, commit;
};

// Splits "8,16" at the commas.
std::vector<std::string> values_of(const std::string& list) {
  std::vector<std::string> values;
  std::istringstream stream(list + ",");
  for (std::string value; std::getline(stream, value, ',');) values.push_back(value);
  return values;
}

// Rejects a value that no case has: it is a misspelling, and would silently select all cases or none.
void require_known(const std::string& what, const std::string& found, const std::set<std::string>& known) {
  if (known.count(found) != 0) return;
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  throw std::invalid_argument(what + " '" + found + "' is that of no case, there are " + list);
}

void check_choice(const Manifest& manifest, const Options& options) {
  std::set<std::string> families, measures, axes;
  std::map<std::string, std::set<std::string>> values;
  for (const Case& test : manifest.cases) {
    families.insert(test.kernel->family);
    measures.insert(test.measure);
    for (const auto& [name, value] : test.axes) {
      axes.insert(name);
      values[name].insert(value);
    }
  }
  for (const std::string& family : options.families) require_known("the family", family, families);
  for (const std::string& measure : options.measures) require_known("the measure", measure, measures);
  for (const std::string& axis : options.axes) {
    const std::size_t colon = axis.find(':');
    const std::string name = axis.substr(0, colon);
    require_known("the axis", name, axes);
    for (const std::string& value : values_of(axis.substr(colon + 1)))
      require_known("the value of " + name, value, values[name]);
  }
  if (options.proofs && (!options.measures.empty() || !options.axes.empty() || options.quick))
    throw std::invalid_argument(
        "--proofs is about kernels: --family and --filter choose among them, nothing else");
}

// Whether the case has that value on the axis, or lacks the axis.
bool on_axis(const Case& test, const std::string& wanted) {
  const std::size_t colon = wanted.find(':');
  for (const auto& [name, value] : test.axes)
    if (name == wanted.substr(0, colon))
      return ("," + wanted.substr(colon + 1) + ",").find("," + value + ",") != std::string::npos;
  return true;
}

std::vector<tenon::command::NamePattern> filters_of(const Options& options) try {
  return {options.filters.begin(), options.filters.end()};
} catch (const std::invalid_argument& error) {
  throw std::invalid_argument(std::string("--filter ") + error.what());
}

std::vector<const Case*> chosen(const Manifest& manifest, const Options& options) {
  const auto among = [](const std::vector<std::string>& list, const std::string& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  const std::vector<tenon::command::NamePattern> filters = filters_of(options);
  std::vector<const Case*> result;
  for (const Case& test : manifest.cases) {
    const auto is_on = [&](const std::string& axis) { return on_axis(test, axis); };
    const auto has_name = [&](const tenon::command::NamePattern& filter) {
      return filter.matches(test.name);
    };
    if (among(options.families, test.kernel->family) && among(options.measures, test.measure) &&
        std::all_of(options.axes.begin(), options.axes.end(), is_on) &&
        (filters.empty() || std::any_of(filters.begin(), filters.end(), has_name)) &&
        (test.quick || !options.quick))
      result.push_back(&test);
  }
  return result;
}

// Runs the cases and keeps the results for the reporter and the file.
class Session {
 public:
  Session(const Manifest& manifest, const Options& options)
      : runner_(manifest, protocol_of(options)),
        file_(options.json, {options.commit, runner_.machine(), runner_.toolkit(), today()}),
        deadline_(Clock::now() + seconds_of(options.budget)) {
    if (!runner_.telemetry_trouble().empty())
      std::fprintf(stderr, "%s\n", runner_.telemetry_trouble().c_str());
  }

  // Warms up: the clock rises from idle within a fraction of a second.
  void warm_up(const Case& test) {
    const auto end = Clock::now() + std::chrono::milliseconds(300);
    try {
      while (Clock::now() < end) runner_.run(test);
    } catch (const DeviceLost&) {
      throw;
    } catch (const Failure&) {  // the case itself fails again and reports it
    }
  }

  void run(const Case& test, benchmark::State& state) {
    Measurement measurement;
    std::string refusal = test.kernel->unproven;
    if (!refusal.empty()) refusal = "no match, no number: " + refusal;
    if (refusal.empty() && Clock::now() > deadline_) refusal = "--budget is spent";
    for (auto _ : state) {
      if (!refusal.empty()) break;
      try {
        measurement = runner_.run(test);
        refusal = measurement.figures.odd;
        state.SetIterationTime(measurement.figures.seconds);
      } catch (const DeviceLost&) {
        throw;
      } catch (const Failure& failure) {
        refusal = failure.what();
      }
    }
    if (!refusal.empty()) {
      measurement.figures.odd = refusal;
      ++refused_;
      state.SkipWithError(refusal.c_str());
    } else {
      state.counters["cycles"] = measurement.figures.cycles;
      state.counters["spread"] = measurement.figures.spread;
      file_.add(to_json(test, measurement));
      worst_error_ = std::max(worst_error_, measurement.figures.error);
      ++reported_;
    }
    std::printf("%s\n", table_row(test, measurement).c_str());
    std::fflush(stdout);
  }

  // A case that cannot run (a cluster of 16 may not fit) does not fail the run, unless no case is left.
  int summary() const {
    std::printf("%d reported, %d not reported; largest error of a median %.2f%%\n", reported_, refused_,
                100 * worst_error_);
    return reported_ > 0 ? 0 : 1;
  }

 private:
  static std::string today() {
    char date[32] = {};
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    return date;
  }
  static Protocol protocol_of(const Options& options) {
    Protocol protocol;
    if (options.quick) {
      protocol.repeats = 5;
      protocol.cycles = 60'000;
      protocol.extensions = 2;
    }
    return protocol;
  }
  static Clock::duration seconds_of(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  Runner runner_;
  ResultFile file_;
  Clock::time_point deadline_;
  int reported_ = 0, refused_ = 0;
  double worst_error_ = 0;
};

// The session prints rows as they come.
class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// Returns the exit status, or 3 if standard output was lost.
int ended(int status) {
  const std::string lost = lost_standard_output();
  if (lost.empty()) return status;
  std::fprintf(stderr, "%s: %s\n", program, lost.c_str());
  return 3;
}

int list(const std::vector<const Case*>& cases) {
  for (const Case* test : cases) std::printf("%s\n", test->name.c_str());
  return 0;
}

// The kernels of the chosen cases; without a choice all kernels, including kernels that no case uses.
int proofs(const Manifest& manifest, const Options& options, const std::vector<const Case*>& cases) {
  int unproven = 0;
  std::size_t kernels = 0;
  std::set<std::string> wanted;
  for (const Case* test : cases) wanted.insert(test->kernel->name);
  const bool all = options.families.empty() && options.filters.empty();
  for (const auto& [name, kernel] : manifest.kernels) {
    if (!all && wanted.count(name) == 0) continue;
    ++kernels;
    std::printf("%-60s", name.c_str());
    for (const auto& [opcode, count] : kernel.claim) std::printf(" %d %s", count, opcode.c_str());
    std::printf("%s%s\n", kernel.unproven.empty() ? "" : ": ", kernel.unproven.c_str());
    unproven += kernel.unproven.empty() ? 0 : 1;
  }
  for (const auto& [file, hash] : manifest.cubins) {
    if (hash_of(embedded_cubin(file)) == hash) continue;
    std::printf("%s.cubin is not the one whose machine code was checked\n", file.c_str());
    ++unproven;
  }
  std::printf("%zu kernels, %d unproven\n", kernels, unproven);
  return unproven == 0 ? 0 : 1;
}

int measure(const Manifest& manifest, const Options& options, const std::vector<const Case*>& cases) {
  Session session(manifest, options);
  session.warm_up(*cases.front());
  for (const Case* test : cases) {
    benchmark::RegisterBenchmark(test->name.c_str(),
                                 [&session, test](benchmark::State& state) { session.run(*test, state); })
        ->Iterations(1)
        ->UseManualTime();
  }
  std::printf("%s\n", table_header().c_str());
  Silent reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return session.summary();
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_descriptors();
  Options options;
  CLI::App app(
      "What tensor-core instructions and their feeders cost: latency and throughput in cycles of the SM",
      "tenon_instruction_benchmark");
  app.add_option("--family", options.families,
                 "mma, mma_sp, mma_fed, wgmma, wgmma_sp, shared, cp_async, tma, global, mbarrier, barrier, "
                 "dsmem, register")
      ->delimiter(',');
  app.add_option("--measure", options.measures, "latency, throughput, all_sm, sustained, groups, round_trip")
      ->delimiter(',');
  app.add_option("--axis", options.axes,
                 "NAME:VALUE[,VALUE], as in warps:8 or ways:1,2; cases without the axis stay")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text.find(':') == std::string::npos ? "'" + text + "' must be NAME:VALUE, as in warps:8"
                                                       : std::string();
          },
          "NAME:VALUE", "axis"));
  app.add_option("--filter", options.filters,
                 std::string("patterns of whole case names: ") + tenon::command::NamePattern::syntax);
  app.add_flag("--quick", options.quick,
               "the most important cases, with 5 shorter repeats at first instead of 7: under a minute");
  app.add_option("--budget", options.budget, "seconds after which no further case starts")
      ->check(CLI::Validator(
          [](const std::string& text) {
            char* end = nullptr;
            const double seconds = std::strtod(text.c_str(), &end);
            const bool right = !text.empty() && *end == '\0' && seconds >= 0 && seconds <= 1e6;
            return right ? std::string() : "'" + text + "' is not a number of seconds from 0 to 1000000";
          },
          "", "seconds"))
      ->capture_default_str();
  app.add_option("--json", options.json, "file for the results, written after every case");
  app.add_option("--commit", options.commit, "commit to store with the results");
  app.add_flag("--list", options.list, "print the names of the chosen cases and exit");
  app.add_flag("--proofs", options.proofs,
               "print the opcodes found in each timed loop (of the chosen families and names) and exit; 1 if "
               "one is unproven");
  app.footer(
      "Examples:\n"
      "  tenon_instruction_benchmark --quick --json quick.json\n"
      "  tenon_instruction_benchmark --family mma,wgmma --measure latency\n"
      "  tenon_instruction_benchmark --family shared --axis ways:1,8\n"
      "  tenon_instruction_benchmark --family wgmma --proofs\n"
      "Exit status: 0 done, 1 nothing could be reported, a loop is unproven or the device was lost, 2 bad "
      "usage, 3 no GPU of sm_90a, or standard output cannot be written.");
  try {
    parse(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = exit_of(app, error);
    return status == 0 ? ended(0) : status;
  }
  const Manifest manifest = parse_manifest(embedded_manifest());
  std::vector<const Case*> cases;
  try {
    check_choice(manifest, options);
    cases = chosen(manifest, options);
    if (const std::string why = options.json.empty() ? "" : unwritable(options.json); !why.empty())
      throw std::invalid_argument("--json: " + why);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s: %s; see --help\n", program, error.what());
    return 2;
  }
  if (cases.empty()) {
    std::fprintf(stderr, "%s: no case has that family, measure, axis and name: see --list\n", program);
    return 2;
  }
  if (options.proofs) return ended(proofs(manifest, options, cases));
  if (options.list) return ended(list(cases));
  if (!has_gpu(program)) return 3;
  int major = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) != cudaSuccess || major != 9) {
    std::fprintf(stderr, "%s: needs a GPU of sm_90, this one is of sm_%dx\n", program, major);
    return 3;
  }
  try {
    return ended(measure(manifest, options, cases));
  } catch (const DeviceLost& lost) {
    // Skips the destructors, which would wait for a device that does not answer.
    std::fprintf(stderr, "%s: %s\n", program, lost.what());
    std::fflush(nullptr);
    std::_Exit(1);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s: %s\n", program, failure.what());
    return 1;
  }
}
