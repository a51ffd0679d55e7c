// tenon_numerics: what arithmetic do this chip's tensor cores do?
//
// Asks every matrix instruction black-box questions and prints what the answers imply (order of summation,
// bits kept, rounding, special values) and which of the emulator's models gives the same bits for all of
// them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "command_line/name_pattern.hpp"
#include "microbench/numerics/cuda_subject.hpp"
#include "microbench/numerics/emulator_subject.hpp"
#include "microbench/numerics/report.hpp"
#include "microbench/replace_file.hpp"
#include "microbench/standard_output.hpp"
#include "microbench/usage.hpp"

namespace {

using namespace tenon::probing;
using namespace tenon::microbench;
using tenon::emulator::Numerics;
using tenon::emulator::numerics::NamedForm;

struct Options {
  std::string device = "cuda", model = "sm_90", forms, json;
  Sampling sampling;
  bool quiet = false;
};

const std::map<std::string, Numerics> emulated = {{"sm_75", Numerics::sm_75},
                                                  {"sm_80", Numerics::sm_80},
                                                  {"sm_89", Numerics::sm_89},
                                                  {"sm_90", Numerics::sm_90},
                                                  {"ieee", Numerics::ieee}};

// Without a pattern every dense mma and wgmma; with one every match, sparse and wmma included.
std::vector<NamedForm> chosen(const std::string& pattern, int sm) {
  std::vector<NamedForm> all = tenon::emulator::numerics::forms();
  for (const NamedForm& named : tenon::emulator::numerics::wgmma_forms()) all.push_back(named);
  const tenon::command::NamePattern matcher(pattern);
  std::vector<NamedForm> result;
  for (const NamedForm& named : all) {
    const bool is_wgmma = named.form.unit == tenon::emulator::numerics::Unit::wgmma;
    if (named.target > sm || (is_wgmma && sm != named.target)) continue;
    const bool is_dense = !named.form.sparse && !named.is_alternative &&
                          named.form.unit != tenon::emulator::numerics::Unit::wmma;
    if (pattern.empty() ? is_dense : matcher.matches(named.text)) result.push_back(named);
  }
  return result;
}

// A negative number would wrap around to a count that never ends.
CLI::Validator whole_number() {
  return {[](std::string& text) {
            const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            const bool octal = text.size() > 1 && text[0] == '0';
            return digits && !octal && text.size() <= 18
                       ? std::string()
                       : "'" + text + "' is not a whole number of 1 to 18 digits";
          },
          ""};
}

// Returns the exit status, or 3 if standard output was lost.
int ended(int status) {
  const std::string lost = lost_standard_output();
  if (lost.empty()) return status;
  std::fprintf(stderr, "tenon_numerics: %s\n", lost.c_str());
  return 3;
}

int run(const Options& options, Subject& subject, std::FILE* out) {
  const std::vector<NamedForm> forms = chosen(options.forms, subject.sm());
  if (forms.empty()) {
    std::fprintf(stderr, "tenon_numerics: no form of sm_%d matches '%s'\n", subject.sm(),
                 options.forms.c_str());
    return 2;
  }
  Examination examination{subject.description(), subject.sm(), options.sampling, {}};
  for (const NamedForm& named : forms) {
    examination.forms.push_back(examine(subject, named, options.sampling));
    if (!options.quiet) std::fputs(text(examination.forms.back()).c_str(), out);
    std::fflush(out);
  }
  std::fputs(verdict(examination).c_str(), out);
  if (!options.json.empty()) {
    const std::string json = to_json(examination).dump(2) + "\n";
    if (options.json == "-") {
      std::fputs(json.c_str(), stdout);
    } else if (const std::string lost = replace_file(options.json, json); !lost.empty()) {
      throw std::runtime_error(lost);
    }
  }
  return fitting_models(examination.forms).empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_descriptors();
  Options options;
  CLI::App app(
      "What arithmetic do this chip's tensor cores do? Probes every mma and wgmma, and names the model of "
      "the emulator that gives the same bits.",
      "tenon_numerics");
  app.add_option("--device", options.device, "what to probe: the first GPU, or the emulator with --model")
      ->check(CLI::IsMember({"cuda", "emulator"}))
      ->capture_default_str();
  app.add_option("--model", options.model, "arithmetic of --device emulator")
      ->check(CLI::IsMember(emulated))
      ->capture_default_str();
  app.add_option(
      "--forms", options.forms,
      std::string("pattern of the whole PTX text, sparse and wmma forms included; without it every "
                  "dense mma and wgmma: ") +
          tenon::command::NamePattern::syntax);
  app.add_option("--results", options.sampling.results, "random results to compare, a form")
      ->check(whole_number())
      ->capture_default_str();
  app.add_option("--seed", options.sampling.seed, "seed of the random operands")
      ->check(whole_number())
      ->capture_default_str();
  app.add_flag("--quiet", options.quiet, "print the verdict alone");
  app.add_option("--json", options.json,
                 "file for all findings; - for standard output, with the text on stderr");
  app.footer(
      "Examples:\n"
      "  tenon_numerics --json numerics.json\n"
      "  tenon_numerics --forms '*m16n8k32*e4m3.e4m3*|wgmma*e4m3.e4m3*' --results 1000000\n"
      "  tenon_numerics --device emulator --model sm_80 --results 2000\n"
      "Exit status: 0 a model fits, 1 none does, 2 bad usage, 3 no GPU, or standard output "
      "cannot be written.");
  try {
    parse(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = exit_of(app, error);
    return status == 0 ? ended(0) : status;
  }
  try {
    const tenon::command::NamePattern valid(options.forms);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "tenon_numerics: --forms %s\n", error.what());
    return 2;
  }
  if (!options.json.empty() && options.json != "-") {
    if (const std::string why = unwritable(options.json); !why.empty()) {
      std::fprintf(stderr, "tenon_numerics: --json: %s\n", why.c_str());
      return 2;
    }
  }
  try {
    std::unique_ptr<Subject> subject;
    if (options.device == "emulator") {
      subject = std::make_unique<EmulatorSubject>(emulated.at(options.model));
    } else {
      subject = std::make_unique<CudaSubject>();
    }
    return ended(run(options, *subject, options.json == "-" ? stderr : stdout));
  } catch (const Unsupported& reason) {
    std::fprintf(stderr, "tenon_numerics: %s; --device emulator needs none\n", reason.what());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon_numerics: %s\n", error.what());
    return 1;
  }
}
