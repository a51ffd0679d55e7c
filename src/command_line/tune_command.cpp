// `tenon tune`: finds the fastest kernel for each of a list of problems on this GPU, and writes a table that
// gemm() reads (tenon/tuning.hpp).
//
// Checks the options, and opens the output file, before it measures anything.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/commands.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/name_pattern.hpp"
#include "command_line/npy.hpp"
#include "command_line/options.hpp"
#include "command_line/print_json.hpp"
#include "command_line/text_file.hpp"
#include "command_line/tune_measure.hpp"
#include "command_line/tune_problems.hpp"
#include "command_line/tune_table.hpp"
#include "host/device.hpp"
#include "host/tuning_table.hpp"
#include "tenon/tenon.h"

namespace tenon::command {
namespace {

using Json = nlohmann::ordered_json;

struct TuneOptions {
  std::string shapes, shapes_path, out_path, kernel = "*", device = "auto", commit;
  TuneTypes types;
  RaceRules rules;
  bool dry_run = false, json = false;
};

// One problem and the kernels that compete for it, the documented choice first.
struct Contest {
  Gemm problem;
  std::vector<const Kernel*> candidates;
};

struct Machine {
  std::string name;
  DeviceDescription description;
  std::unique_ptr<Device> cuda;  // null if the GPU is only described
};

std::vector<Gemm> read_problems(const TuneOptions& o) {
  std::vector<TuneShape> shapes;
  if (!o.shapes.empty()) shapes = parse_tune_shapes("--shapes", o.shapes);
  if (!o.shapes_path.empty()) {
    for (const TuneShape& shape : read_tune_shapes(o.shapes_path)) shapes.push_back(shape);
  }
  if (shapes.empty()) refuse("give the shapes to tune for with --shapes or --shapes-from");
  return tune_problems(shapes, o.types);
}

// A pattern that matches no kernel at all is misspelt.
NamePattern read_pattern(const TuneOptions& o) try {
  NamePattern pattern(o.kernel);
  for (const Kernel& kernel : kernels()) {
    if (pattern.matches(kernel.name)) return pattern;
  }
  refuse("--kernel is '" + shortened(o.kernel) + "' but matches the name of no kernel (" +
         NamePattern::syntax + "): `tenon list` prints them");
} catch (const std::invalid_argument& error) {
  refuse(std::string("--kernel ") + error.what());
}

Machine open_machine(const TuneOptions& o) {
  Machine machine;
  if (o.device != "emulator") {
    const Status cuda = open_cuda_device(&machine.cuda);
    if (cuda) {
      machine.name = machine.cuda->description();
      require(machine.cuda->launcher().describe(&machine.description));
      return machine;
    }
    if (!o.dry_run || o.device == "cuda") {
      throw Failure(
          Exit::machine_cannot,
          std::string(cuda.message()) + "; kernels are timed on a GPU, --dry-run lists them without one");
    }
  }
  machine.name = "H200 (described: nothing runs on it)";
  machine.description = {90, 132, std::size_t{227} << 10, std::size_t{50} << 20};
  return machine;
}

std::vector<Contest> contests_of(const TuneOptions& o, const std::vector<Gemm>& problems,
                                 const DeviceDescription& device) {
  const NamePattern pattern = read_pattern(o);
  std::vector<Contest> contests;
  bool any_wanted = false;
  for (const Gemm& problem : problems) {
    Status why;
    Contest contest{problem, tune_candidates(kernels(), problem, device, &why)};
    require(why);
    const auto unwanted = [&pattern](const Kernel* kernel) { return !pattern.matches(kernel->name); };
    auto& all = contest.candidates;
    any_wanted = any_wanted || !std::all_of(all.begin(), all.end(), unwanted);
    all.erase(std::remove_if(all.begin() + 1, all.end(), unwanted), all.end());
    contests.push_back(std::move(contest));
  }
  if (!any_wanted)
    refuse("--kernel is '" + shortened(o.kernel) +
           "' but no kernel with such a name takes any of these problems");
  return contests;
}

void print_candidates(const TuneOptions& o, const Machine& machine, const std::vector<Contest>& contests) {
  Json list = Json::array();
  for (const Contest& contest : contests) {
    const Gemm& p = contest.problem;
    Json names = Json::array();
    for (const Kernel* kernel : contest.candidates) names.push_back(kernel->name);
    list.push_back({{"m", p.m},
                    {"n", p.n},
                    {"k", p.k},
                    {"types", types_text(p)},
                    {"layout", layout_text(p)},
                    {"documented", contest.candidates.front()->name},
                    {"candidates", names}});
  }
  if (o.json) {
    print_json({{"device", machine.name}, {"problems", list}});
    return;
  }
  std::printf("device   %s\n", machine.name.c_str());
  for (const Contest& contest : contests) {
    std::printf("problem  %s, %s, layout %s: %zu candidates\n", shape_text(contest.problem).c_str(),
                types_text(contest.problem).c_str(), layout_text(contest.problem).c_str(),
                contest.candidates.size());
    for (const Kernel* kernel : contest.candidates) {
      const bool documented = kernel == contest.candidates.front();
      std::printf("         %s%s\n", kernel->name.c_str(), documented ? "  (the documented choice)" : "");
    }
  }
}

std::string toolkit_text() {
  const auto version = [](int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  };
  int driver = 0;
  cudaDriverGetVersion(&driver);
  return "CUDA " + version(CUDART_VERSION) + ", driver for CUDA " + version(driver);
}

void print_head() {
  std::printf("%-22s  %-26s  %-6s  %11s  %11s  %8s  %s\n", "problem", "types", "layout", "documented",
              "fastest", "speed-up", "kernel");
}

void print_row(const Gemm& p, const TuningEntry& entry) {
  std::printf("%-22s  %-26s  %-6s  %8.2f us  %8.2f us  %7.2fx  %s%s\n", shape_text(p).c_str(),
              types_text(p).c_str(), layout_text(p).c_str(), entry.documented_microseconds,
              entry.microseconds, entry.documented_microseconds / entry.microseconds, entry.kernel.c_str(),
              entry.kernel == entry.documented ? "  (the documented choice)" : "");
  std::fflush(stdout);
}

void check_usage(const TuneOptions& o) {
  if (o.dry_run) {
    if (!o.out_path.empty())
      refuse("--dry-run measures nothing, so there is no table to write: leave out --out");
    return;
  }
  if (o.device == "emulator")
    refuse("--device is emulator but kernels are timed on a GPU: --dry-run lists them without one");
  if (o.out_path.empty() && !o.json) refuse("give the file for the table with --out, or --json to print it");
}

TuningTable head_of(const TuneOptions& o, const Machine& machine) {
  TuningTable head;
  head.device = machine.name;
  head.sm = machine.description.sm;
  head.multiprocessors = machine.description.multiprocessors;
  head.version = tenon_version();
  head.commit = o.commit;
  head.toolkit = toolkit_text();
  return head;
}

// Adds an entry for each problem to the table. Returns the number of wrong results.
std::size_t measure(const TuneOptions& o, Device& cuda, const std::vector<Contest>& contests,
                    TuneTable& table) {
  // All problems first, so that a long list does not fail at its end.
  for (const Contest& contest : contests) require_room(cuda, contest.problem);
  TuneBench bench(cuda);
  std::size_t wrong = 0;
  for (const Contest& contest : contests) {
    const std::string label =
        std::to_string(&contest - contests.data() + 1) + " of " + std::to_string(contests.size());
    const TuneOutcome outcome = bench.run(contest.problem, contest.candidates, o.rules, label);
    for (const std::string& sentence : outcome.wrong) {
      std::fprintf(stderr, "tenon: %s: %s\n", shape_text(contest.problem).c_str(), sentence.c_str());
    }
    wrong += outcome.wrong.size();
    if (outcome.right.empty()) continue;
    TuningEntry entry;
    entry.key = tuning_key(contest.problem);
    entry.kernel = outcome.right[outcome.race.winner]->name;
    entry.microseconds = outcome.race.microseconds[outcome.race.winner];
    entry.documented = outcome.right.front()->name;
    entry.documented_microseconds = outcome.race.microseconds.front();
    if (!o.json && table.empty()) print_head();
    if (!o.json) print_row(contest.problem, entry);
    table.add(std::move(entry));
  }
  if (table.empty()) table.write();
  return wrong;
}

void run(const TuneOptions& o) {
  const std::vector<Gemm> problems = read_problems(o);
  read_pattern(o);
  check_usage(o);
  if (!o.out_path.empty()) const OutputFile writable(o.out_path);  // fails before anything is measured
  const Machine machine = open_machine(o);
  const std::vector<Contest> contests = contests_of(o, problems, machine.description);
  if (o.dry_run) {
    print_candidates(o, machine, contests);
    return;
  }
  TuneTable table(head_of(o, machine), o.out_path);
  std::size_t wrong = 0;
  try {
    wrong = measure(o, *machine.cuda, contests, table);
  } catch (...) {
    if (o.json && !table.empty()) print_json(Json::parse(table.text()));  // main() adds the error
    if (!o.json && !table.empty()) std::printf("written  %s, up to here\n", o.out_path.c_str());
    throw;
  }
  if (o.json && wrong != 0) {
    print_json(Json::parse(table.text()));  // main() adds the error
  } else if (o.json) {
    std::cout << table.text();
  } else {
    std::printf("written  %s\n", o.out_path.c_str());
  }
  if (wrong != 0) {
    throw Failure(Exit::wrong_result, std::to_string(wrong) + (wrong == 1 ? " result is" : " results are") +
                                          " wrong: see above; no such kernel is in the table");
  }
}

}  // namespace

void add_tune(CLI::App& application) {
  CLI::App* command = application.add_subcommand(
      "tune",
      "Find the fastest kernel for each of a list of problems on this GPU, and write a table for gemm()");
  const auto o = std::make_shared<TuneOptions>();
  command->add_option("--shapes", o->shapes, "SIZE or M:N:K, several by comma");
  command->add_option("--shapes-from", o->shapes_path, "A file of shapes, one per line; # begins a comment");
  command
      ->add_option(
          "--types", o->types.operands,
          "Types of A and B: f16, bf16, tf32, e4m3, e5m2, s8, f64, or A:B as in e4m3:e5m2; several by "
          "comma")
      ->capture_default_str();
  command->add_option("--out-type", o->types.out, "Type of C; with s8 it is s32, with f64 f64")
      ->check(CLI::IsMember({"f16", "bf16", "f32"}))
      ->capture_default_str();
  command
      ->add_option("--accumulate", o->types.accumulate,
                   "Type of the accumulators; with s8 it is s32, with f64 f64")
      ->check(CLI::IsMember({"f32", "f16"}))
      ->capture_default_str();
  command->add_flag("--promote", o->types.promote, "fp8: promote the accumulators to f32 every 128 products");
  command
      ->add_option("--layout", o->types.layouts,
                   "A then B: t = row-major, n = column-major; tn, nn, tt, nt, several by comma")
      ->capture_default_str();
  command->add_option("--out", o->out_path, "Write the table to this file, again after each problem");
  command->add_option("--kernel", o->kernel,
                      std::string("Only kernels whose whole name matches, and the documented choice: ") +
                          NamePattern::syntax);
  command
      ->add_option(
          "--seconds", o->rules.seconds,
          "Time for the careful measurement of a problem's best candidates, of at least seven rounds")
      ->check(number_within(0.0, 3600.0))
      ->capture_default_str();
  command->add_option("--commit", o->commit, "Stored with the table: the commit of the measured library");
  command
      ->add_option(
          "--device", o->device,
          "auto: the GPU, with --dry-run an H200 where there is none; emulator: with --dry-run, an H200")
      ->check(CLI::IsMember({"auto", "cuda", "emulator"}))
      ->capture_default_str();
  command->add_flag("--dry-run", o->dry_run, "List the candidates of each problem and measure nothing");
  command->add_flag(
      "--json", o->json,
      "Print the table itself (the format: src/host/tuning_text.hpp); with --dry-run one object: "
      "device, problems");
  command->footer(
      "Examples:\n"
      "  tenon tune --shapes 4096,64:4096:4096 --types bf16,e4m3 --out h200.tune\n"
      "  tenon tune --shapes-from layers.txt --types bf16 --out-type bf16 --layout tn,nn --out h200.tune\n"
      "  tenon tune --shapes 64:4096:4096 --dry-run\n"
      "  tenon tune --shapes 64:4096:4096 --dry-run --kernel 'wgmma_*|tma_*'\n"
      "  tenon gemm --m 64 --n 4096 --k 4096 --type bf16 --tuning h200.tune --bench\n"
      "Every kernel that takes a problem is run, and compared with the documented choice, which is compared "
      "with the\n"
      "exact product; then the candidates are timed alternately, with dense operands and, as far as they "
      "fit, in the L2. "
      "Another\n"
      "kernel than the documented choice is written where it is more than 1 % faster.");
  command->callback([o] { run(*o); });
}

}  // namespace tenon::command
