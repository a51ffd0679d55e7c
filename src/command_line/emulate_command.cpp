// `tenon emulate`: runs a kernel of any PTX file on the CPU, and reports its faults and counters.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <sstream>

#include "command_line/commands.hpp"
#include "command_line/emulate_arguments.hpp"
#include "command_line/emulator_report.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/options.hpp"
#include "command_line/print_json.hpp"
#include "command_line/progress.hpp"
#include "command_line/text_file.hpp"

namespace tenon::command {
namespace {

struct EmulateOptions {
  std::string path, entry, grid = "1", block, cluster, schedule = "early", numerics = "target";
  std::vector<std::string> arguments, buffers;
  std::uint32_t shared = 0;
  std::uint64_t limit = 0, launch_limit = 0;  // 0: none
  std::uint64_t heap = emulator::Options().heap_bytes;
  int threads = 0;
  bool list = false, no_findings = false, json = false;
};

void set_schedule(const std::string& text, emulator::Options& options) {
  static const std::string random = "random:";
  if (text == "early") {
    options.schedule = emulator::Schedule::early;
  } else if (text == "late") {
    options.schedule = emulator::Schedule::late;
  } else {
    options.schedule = emulator::Schedule::random;
    const std::string seed = text.compare(0, random.size(), random) == 0 ? text.substr(random.size()) : "";
    if (seed.empty() || seed.size() > 19 || seed.find_first_not_of("0123456789") != std::string::npos)
      refuse("--schedule is '" + shortened(text) + "' but must be early, late or random:SEED, as random:7");
    options.seed = std::stoull(seed);
  }
}

emulator::Numerics numerics_named(const std::string& name) {
  using emulator::Numerics;
  if (name == "sm_75") return Numerics::sm_75;
  if (name == "sm_80") return Numerics::sm_80;
  if (name == "sm_89") return Numerics::sm_89;
  if (name == "sm_90") return Numerics::sm_90;
  return name == "ieee" ? Numerics::ieee : Numerics::target;
}

std::string entry_of(const emulator::Module& module, const EmulateOptions& o) {
  const std::vector<std::string> entries = module.entries();
  if (entries.empty()) refuse(o.path + ": it has no kernel (.entry)");
  if (!o.entry.empty()) return module.entry(o.entry);
  if (entries.size() == 1) return entries[0];
  std::string list;
  for (const std::string& entry : entries) list += (list.empty() ? "" : ", ") + entry;
  refuse(o.path + " has " + std::to_string(entries.size()) + " kernels: choose one by --entry: " + list);
}

void list_entries(const emulator::Module& module, bool as_json) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const std::string& entry : module.entries()) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
    std::string bytes;
    for (const emulator::Parameter& parameter : module.parameters(entry)) {
      parameters.push_back({{"bytes", parameter.bytes}, {"alignment", parameter.alignment}});
      bytes += (bytes.empty() ? "" : ", ") + std::to_string(parameter.bytes);
    }
    if (!as_json)
      std::printf("%s\n  %s\n  bytes of its parameters: %s\n", entry.c_str(),
                  emulator::demangled(entry).c_str(), bytes.empty() ? "none" : bytes.c_str());
    json.push_back({{"name", entry}, {"demangled", emulator::demangled(entry)}, {"parameters", parameters}});
  }
  if (as_json) print_json(std::move(json));
}

// Announces a launch that takes long, and refuses one that takes more than a day. The kernel's instructions
// are not known here, so this is the time for one instruction of each warp: a lower bound.
void announce(const emulator::Shape& shape, std::uint64_t launch_limit) {
  constexpr double warps_in_a_second = 1.0e6, worth_telling = 20, day = 24 * 3600, year = 365.25 * day;
  const double blocks = static_cast<double>(shape.grid.x) * static_cast<double>(shape.grid.y) *
                        static_cast<double>(shape.grid.z);
  double warps = blocks * std::ceil(static_cast<double>(shape.block.count()) / 32);
  if (launch_limit != 0) warps = std::min(warps, static_cast<double>(launch_limit));
  const double seconds = warps / warps_in_a_second;
  if (seconds < worth_telling) return;
  const struct {
    double seconds;
    const char* name;
  } units[] = {{1, "seconds"}, {60, "minutes"}, {3600, "hours"}, {day, "days"}, {year, "years"}};
  int unit = 0;
  while (unit < 4 && seconds >= 2 * units[unit + 1].seconds) ++unit;
  char sentence[240];
  std::snprintf(sentence, sizeof sentence, "at least %.*g %s of CPU time", seconds > 1e6 * year ? 3 : 9,
                std::ceil(seconds / units[unit].seconds), units[unit].name);
  const std::string time = sentence;
  std::snprintf(sentence, sizeof sentence, "a grid of %.*g blocks", blocks > 1e12 ? 3 : 12, blocks);
  if (seconds > day)
    refuse(std::string(sentence) + " takes the emulator " + time +
           ", more than the day that is allowed: make --grid smaller, or stop the launch by --launch-limit");
  std::fprintf(stderr, "tenon: %s takes the emulator %s\n", sentence, time.c_str());
}

// --- JSON

void print_result(const emulator::Result& result, const std::vector<EmulatedArguments::Written>& written) {
  nlohmann::ordered_json json, by_class = nlohmann::ordered_json::object(),
                               lines = nlohmann::ordered_json::array();
  json["findings"] = findings_json(result.findings);
  json["printed"] = result.printed;
  json["unprinted_bytes"] = result.unprinted_bytes;
  for (int i = 0; i < emulator::instruction_classes; ++i) {
    const emulator::Counts& counts = result.counters.by_class[i];
    if (counts.instructions != 0)
      by_class[emulator::name(static_cast<emulator::InstructionClass>(i))] = counts_json(counts);
  }
  for (const emulator::LineCounts& line : result.counters.lines) {
    nlohmann::ordered_json one = {{"ptx_line", line.ptx_line},
                                  {"instruction", line.instruction},
                                  {"source", line.source},
                                  {"class", emulator::name(line.kind)}};
    one.update(counts_json(line.counts));
    lines.push_back(std::move(one));
  }
  json["counters"] = {
      {"total", counts_json(result.counters.total)}, {"by_class", by_class}, {"lines", lines}};
  json["outputs"] = nlohmann::ordered_json::array();
  for (const EmulatedArguments::Written& file : written)
    json["outputs"].push_back(
        {{"path", file.path}, {"bytes", file.bytes}, {"unwritten_bytes", file.unwritten_bytes}});
  print_json(json);
}

// --- text

std::string text(const emulator::Dim3& at) {
  return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

// The lines of the PTX text, for printing the line of a finding.
class PtxLines {
 public:
  explicit PtxLines(const std::string& ptx) {
    std::istringstream stream(ptx);
    for (std::string line; std::getline(stream, line);) lines_.push_back(line);
  }
  std::string at(int number) const {
    if (number < 1 || static_cast<std::size_t>(number) > lines_.size()) return "";
    const std::string& line = lines_[static_cast<std::size_t>(number - 1)];
    const std::size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
    return first == std::string::npos ? "" : line.substr(first, last - first + 1);
  }

 private:
  std::vector<std::string> lines_;
};

void print_finding(const emulator::Finding& finding, const PtxLines& lines) {
  std::printf("\n%s in %s at PTX line %d\n", emulator::name(finding.kind), finding.entry.c_str(),
              finding.ptx_line);
  std::printf("  ptx      %s\n", lines.at(finding.ptx_line).c_str());
  if (!finding.source.empty()) std::printf("  source   %s\n", finding.source.c_str());
  std::printf("  count    %" PRIu64 "%s\n", finding.count, other_lines_text(finding).c_str());
  std::printf("  first    thread %s of block %s", text(finding.first.thread).c_str(),
              text(finding.first.block).c_str());
  if (finding.first.address != 0) std::printf(", address 0x%" PRIx64, finding.first.address);
  std::printf("\n  meaning  %s\n", finding.message.c_str());
}

void print_counts(const char* label, std::uint64_t found, std::uint64_t ideal, const char* unit) {
  if (found != 0 || ideal != 0)
    std::printf("%-13s%" PRIu64 " %s, ideally %" PRIu64 "\n", label, found, unit, ideal);
}

void print_counters(const emulator::Counters& counters) {
  const emulator::Counts& total = counters.total;
  std::printf("instructions %" PRIu64 " of warps, %" PRIu64 " of threads\n", total.instructions,
              total.thread_instructions);
  for (int i = 0; i < emulator::instruction_classes; ++i) {
    const std::uint64_t count = counters.by_class[i].instructions;
    if (count != 0)
      std::printf("  %-15s%" PRIu64 "\n", emulator::name(static_cast<emulator::InstructionClass>(i)), count);
  }
  if (total.matrix_operations != 0)
    std::printf("matrix       %" PRIu64 " products, %" PRIu64 " FLOP\n", total.matrix_operations, total.flop);
  print_counts("shared", total.shared_wavefronts, total.ideal_shared_wavefronts, "wavefronts");
  print_counts("global", total.global_sectors, total.ideal_global_sectors, "sectors of 32 bytes");
  if (total.async_bytes != 0) std::printf("copies       %" PRIu64 " bytes\n", total.async_bytes);
  // The lines with the largest excess: a kernel that copies element by element has hundreds.
  constexpr std::size_t most_lines = 20;
  std::vector<const emulator::LineCounts*> wasteful;
  const auto excess = [](const emulator::LineCounts* line) {
    const emulator::Counts& c = line->counts;
    const auto beyond = [](std::uint64_t count, std::uint64_t ideal) {
      return count > ideal ? count - ideal : 0;
    };
    return beyond(c.shared_wavefronts, c.ideal_shared_wavefronts) +
           beyond(c.global_sectors, c.ideal_global_sectors);
  };
  for (const emulator::LineCounts& line : counters.lines)
    if (excess(&line) != 0) wasteful.push_back(&line);
  const std::size_t found = wasteful.size();
  std::stable_sort(wasteful.begin(), wasteful.end(),
                   [&](const auto* one, const auto* other) { return excess(one) > excess(other); });
  wasteful.resize(std::min(found, most_lines));
  std::sort(wasteful.begin(), wasteful.end(),
            [](const auto* one, const auto* other) { return one->ptx_line < other->ptx_line; });
  for (const emulator::LineCounts* each : wasteful) {
    const emulator::LineCounts& line = *each;
    const emulator::Counts& c = line.counts;
    if (c.shared_wavefronts > c.ideal_shared_wavefronts)
      std::printf("  line %d has bank conflicts: %" PRIu64 " wavefronts, ideally %" PRIu64 ": %s\n",
                  line.ptx_line, c.shared_wavefronts, c.ideal_shared_wavefronts, line.instruction.c_str());
    if (c.global_sectors > c.ideal_global_sectors)
      std::printf("  line %d is not coalesced: %" PRIu64 " sectors, ideally %" PRIu64 ": %s\n", line.ptx_line,
                  c.global_sectors, c.ideal_global_sectors, line.instruction.c_str());
  }
  if (found > most_lines)
    std::printf("  and %zu more lines with no more in excess; --json has all\n", found - most_lines);
}

// What the kernel's printf wrote, under a line that says so.
void print_printed(const emulator::Result& result) {
  if (result.printed.empty()) return;
  std::printf("printed      %zu bytes\n", result.printed.size());
  std::fwrite(result.printed.data(), 1, result.printed.size(), stdout);
  if (result.printed.back() != '\n') std::printf("\n");
  if (result.unprinted_bytes != 0)
    std::printf("  and %" PRIu64 " bytes more, which are lost\n", result.unprinted_bytes);
}

void print_written(const EmulatedArguments::Written& file) {
  std::printf("written      %s", file.path.c_str());
  if (file.unwritten_bytes != 0)
    std::printf(": the kernel never wrote %zu of its %zu bytes", file.unwritten_bytes, file.bytes);
  std::printf("\n");
}

void run(const EmulateOptions& o) {
  const std::string ptx = read_text(o.path);
  if (o.list) {
    emulator::Emulator emulator;
    try {
      list_entries(emulator.load(ptx), o.json);
    } catch (const emulator::Error& error) {
      refuse(o.path + ": " + error.what());
    }
    return;
  }
  if (o.block.empty()) refuse("--block is required");
  emulator::Options options;
  set_schedule(o.schedule, options);
  options.numerics = numerics_named(o.numerics);
  options.findings = !o.no_findings;
  options.threads = o.threads;
  options.instruction_limit = o.limit;
  options.launch_instruction_limit = o.launch_limit;
  options.heap_bytes = o.heap;
  emulator::Shape shape;
  shape.grid = parse_size("--grid", o.grid);
  shape.block = parse_size("--block", o.block);
  shape.shared_bytes = o.shared;
  if (!o.cluster.empty()) shape.cluster = parse_size("--cluster", o.cluster);

  emulator::Emulator emulator;
  emulator::Result result;
  std::string entry;
  std::vector<EmulatedArguments::Written> written;
  try {
    const emulator::Module module = emulator.load(ptx);
    entry = entry_of(module, o);
    emulator.check(module, entry);
    announce(emulator.check(module, entry, shape), o.launch_limit);
    EmulatedArguments arguments(emulator, entry, module.parameters(entry), o.arguments, o.buffers);
    {
      const Elapsed elapsed("emulating " + entry);
      result = emulator.launch(module, entry, shape, arguments.values(), options);
    }
    written = arguments.write_outputs();
  } catch (const emulator::Error& error) {
    refuse(o.path + ": " + error.what());
  }
  if (o.json) {
    print_result(result, written);
  } else {
    std::printf("kernel       %s, grid %s, block %s\n", entry.c_str(), text(shape.grid).c_str(),
                text(shape.block).c_str());
    print_printed(result);
    print_counters(result.counters);
    for (const EmulatedArguments::Written& file : written) print_written(file);
    std::printf("findings     %zu\n", result.findings.size());
    const PtxLines lines(ptx);
    for (const emulator::Finding& finding : result.findings) print_finding(finding, lines);
  }
  if (!result.findings.empty()) {
    const emulator::Finding& first = result.findings[0];
    throw Failure(Exit::wrong_result,
                  std::to_string(result.findings.size()) +
                      (result.findings.size() == 1 ? " finding: " : " findings, the first: ") +
                      emulator::name(first.kind) + " at PTX line " + std::to_string(first.ptx_line));
  }
}

}  // namespace

void add_emulate(CLI::App& application) {
  CLI::App* command = application.add_subcommand(
      "emulate", "Run a kernel of a PTX file on the CPU and say what is wrong with it");
  const auto o = std::make_shared<EmulateOptions>();
  command->add_option("file", o->path, "PTX text, of any origin")->required();
  command->add_option(
      "--entry", o->entry,
      "The kernel: its name in the PTX text or in C++, or a part of one (default: the only kernel)");
  command->add_flag("--list", o->list,
                    "Print the kernels of the file and the bytes of their parameters; run none");
  command->add_option("--grid", o->grid, "Blocks: X, X,Y or X,Y,Z")->capture_default_str();
  command->add_option("--block", o->block, "Threads of a block: X, X,Y or X,Y,Z (required)");
  command->add_option("--cluster", o->cluster, "Blocks of a cluster (default: what the kernel requires)");
  command->add_option("--shared", o->shared, "Bytes of dynamic shared memory of a block")
      ->transform(whole_number(0, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  command->add_option("--arg", o->arguments, "An argument of the kernel: see below")->allow_extra_args(false);
  command->add_option("--buffer", o->buffers, "A buffer that no parameter takes: see below")
      ->allow_extra_args(false);
  command
      ->add_option("--schedule", o->schedule,
                   "When asynchronous operations take effect: early, late or random:SEED")
      ->capture_default_str();
  command
      ->add_option("--numerics", o->numerics,
                   "Arithmetic of the tensor cores: of the file's .target, or another")
      ->check(CLI::IsMember({"target", "sm_75", "sm_80", "sm_89", "sm_90", "ieee"}))
      ->capture_default_str();
  command->add_flag("--no-findings", o->no_findings,
                    "Faster: do not look for races, missing fences and unwritten memory");
  command->add_option("--threads", o->threads, "Threads of this machine (default: all)")
      ->transform(whole_number(1, 1024));
  command
      ->add_option(
          "--limit", o->limit,
          "Instructions that the warps of a cluster, or of a block without one, may execute: the cluster "
          "ends before the next one, with the finding `limit` (default: no limit)")
      ->transform(whole_number(1, std::numeric_limits<std::int64_t>::max()));
  command
      ->add_option("--launch-limit", o->launch_limit,
                   "The same for the warps of all clusters together: the launch ends")
      ->transform(whole_number(1, std::numeric_limits<std::int64_t>::max()));
  command->add_option("--heap", o->heap, "Bytes that malloc of the kernel can give away at a time")
      ->transform(whole_number(0, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command->add_flag(
      "--json", o->json,
      "Print one object: findings, counters, outputs; with --list an array of name, demangled, parameters");
  command->footer(
      "Examples:\n"
      "  tenon emulate share/tenon/ptx/attention_mma_f16.ptx --list\n"
      "  tenon emulate scale.ptx --entry scale --grid 4 --block 256 --arg file:X.npy --arg "
      "out:Y.npy:f32:1024 "
      "--arg f32:2\n"
      "  tenon emulate copy.ptx --block 128 --buffer file:A.npy --arg "
      "map:b1:f16:64x128:box=64x64:swizzle=128B "
      "--arg unwritten:8192 --schedule late --json\n"
      "  tenon emulate gemm.ptx --grid 4 --block 128 --shared 65536 --arg "
      "'{s32:150,s32:131,file:A.npy,s64:131,{out:C.npy:f16:150x131,s64:131},f32:1}'\n" +
      std::string(argument_help()) +
      "Exit status: 0 no findings, 1 findings, 2 bad usage or input, 3 this machine cannot. Outputs are "
      "written with findings too.");
  command->callback([o] { run(*o); });
}

}  // namespace tenon::command
