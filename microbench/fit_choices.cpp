// Fits the cost model to records of choices (choice_fit.hpp), and says how much is lost with it.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "microbench/choice_fit.hpp"
#include "microbench/replace_file.hpp"
#include "microbench/standard_output.hpp"
#include "microbench/usage.hpp"

namespace tenon::microbench {
namespace {

using Half = ChoiceFit::Half;

void print_regrets(const char* what, const ChoiceRecord& record,
                   const std::function<std::vector<double>(Half, const std::string&)>& regrets) {
  std::printf("%s, %s:\n%-10s %8s %8s %8s %8s %8s\n", record.machine.c_str(), what, "group", "half",
              "problems", "mean", "95 %", "worst");
  std::vector<std::string> groups = choice_groups();
  groups.emplace_back();
  for (const std::string& group : groups) {
    for (const Half half : {Half::fitted, Half::judged}) {
      std::vector<double> all = regrets(half, group);
      if (all.empty()) continue;
      std::sort(all.begin(), all.end());
      double sum = 0;
      for (const double ratio : all) sum += std::log(ratio);
      std::printf("%-10s %8s %8zu %8.4f %8.4f %8.4f\n", group.empty() ? "all" : group.c_str(),
                  half == Half::fitted ? "fitted" : "judged", all.size(),
                  std::exp(sum / static_cast<double>(all.size())),
                  all[static_cast<std::size_t>(0.95 * static_cast<double>(all.size()))], all.back());
    }
  }
}

ChoiceRecord read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  try {
    return read_choice_record(text.str());
  } catch (const Failure& failure) {
    throw Failure(path + ": " + failure.what());
  }
}

int run(int argc, char** argv) {
  CLI::App app(
      "Fits gemm()'s cost model, parameters and efficiencies of tiles, to recorded times of every kernel",
      "tenon_fit_choices");
  std::vector<std::string> paths;
  int trials = 6000;
  double above = 0;
  bool losses = false;
  std::string features;
  app.add_option("records", paths, "files of tenon_gemm_benchmark --choices; several are fitted together")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--trials", trials, "of the search; 0: judge the parameters as they are")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--worst", above,
                 "list the problems whose choice takes more than this ratio of the least time");
  app.add_flag("--losses", losses, "list what is lost without each kernel");
  app.add_option("--features", features, "write the table that fit_correction.py reads, and stop")
      ->excludes("--trials")
      ->excludes("--worst")
      ->excludes("--losses");
  app.footer(
      "Examples:\n  tenon_fit_choices microbench/results/h*00/choices_*.json\n"
      "  tenon_fit_choices choices.json --trials 0 --worst 1.1 --losses\n"
      "  tenon_fit_choices microbench/results/h*00/{choices,between,named}_*.json --features features.tsv\n"
      "Exit status: 0 done, 2 bad usage, a file that is no such record, or a table that cannot be written, 3 "
      "standard output cannot be "
      "written.");
  try {
    parse(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return exit_of(app, error);
  }
  if (const std::string why = features.empty() ? "" : unwritable(features); !why.empty()) throw Failure(why);
  std::vector<ChoiceRecord> records;
  for (const std::string& path : paths) records.push_back(read(path));
  std::vector<const ChoiceRecord*> together;
  std::vector<ChoiceFit> alone;
  for (const ChoiceRecord& record : records) {
    if (record.between)
      std::printf("%s: times of launches between others, less the foreign kernel's %.2f us.\n",
                  record.machine.c_str(), record.foreign_us);
    together.push_back(&record);
    alone.emplace_back(std::vector<const ChoiceRecord*>{&record}, kernels());
  }
  if (!features.empty()) {
    std::ostringstream out;
    std::size_t problems = 0;
    for (const ChoiceFit& fit : alone) problems = fit.write_features(out, problems);
    if (const std::string why = replace_file(features, out.str()); !why.empty()) throw Failure(why);
    std::printf("%zu problems\n", problems);
    return 0;
  }
  const auto print_all = [&](const char* what, const FittedModel& model) {
    for (std::size_t i = 0; i < records.size(); ++i)
      print_regrets(what, records[i], [&](Half half, const std::string& group) {
        return alone[i].regrets(model, half, group);
      });
  };
  const FittedModel start = model_of(cost_parameters(records[0].device), kernels());
  print_all("the model alone", start);
  for (std::size_t i = 0; i < records.size(); ++i)
    print_regrets("as gemm() chooses", records[i], [&](Half half, const std::string& group) {
      return alone[i].corrected_regrets(half, group);
    });
  const FittedModel fitted = trials > 0 ? ChoiceFit(together, kernels()).fit(start, trials) : start;
  if (trials > 0) {
    for (const FittedParameter& parameter : fitted_parameters())
      std::printf("  %-32s %10.4g -> %10.4g\n", parameter.name, start.parameters.*parameter.member,
                  fitted.parameters.*parameter.member);
    for (const auto& [tile, efficiency] : fitted.efficiencies)
      std::printf("  %-32s %10.4g -> %10.4g\n", tile.c_str(), start.efficiencies.at(tile), efficiency);
    print_all("the model alone, fitted", fitted);
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (above > 0) std::printf("%s", alone[i].worst_problems(above).c_str());
    if (!losses) continue;
    std::printf("%s, best time without a kernel, over the best time:\n%8s %8s %8s\n",
                records[i].machine.c_str(), "mean", "worst", "problems");
    for (const KernelLoss& loss : losses_without(records[i]))
      std::printf("%8.4f %8.4f %8d  %s\n", loss.mean, loss.worst, loss.problems, loss.kernel.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace tenon::microbench

int main(int argc, char** argv) {
  try {
    const int status = tenon::microbench::run(argc, argv);
    const std::string lost = tenon::microbench::lost_standard_output();
    if (lost.empty()) return status;
    std::fprintf(stderr, "tenon_fit_choices: %s\n", lost.c_str());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon_fit_choices: %s\n", error.what());
    return 2;
  }
}
