// `tenon precision`: how exact products of f32 operands are, by size and method.
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command_line/commands.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/options.hpp"
#include "command_line/precision_study.hpp"
#include "command_line/print_json.hpp"
#include "device/device.hpp"

namespace tenon::command {
namespace {

struct PrecisionOptions {
  StudyOptions study;
  std::int64_t largest = 0;  // 0: the device's
  std::string numbers = "normal", device = "auto";
  bool json = false;
};

// The largest size without --largest: seconds on a GPU, and in the emulator.
constexpr std::int64_t largest_on_a_gpu = 4096, largest_emulated = 128;

std::unique_ptr<Device> open_study_device(const PrecisionOptions& o) {
  std::unique_ptr<Device> device;
  if (o.device != "emulator") {
    const Status cuda = open_cuda_device(&device);
    if (cuda) return device;
    if (o.device == "cuda")
      throw Failure(Exit::machine_cannot, std::string(cuda.message()) + "; --device emulator needs none");
  }
  require(open_emulator_device(&device));
  return device;
}

void print_study_json(const PrecisionOptions& o, const Device& device, const std::vector<StudyRow>& rows) {
  nlohmann::ordered_json json;
  json["device"] = device.kind();
  json["device_name"] = device.description();
  json["numbers"] = o.numbers;
  json["seed"] = o.study.seed;
  json["rtol"] = study_rtol;
  json["atol"] = study_atol;
  json["rows"] = nlohmann::ordered_json::array();
  for (const StudyRow& row : rows) {
    nlohmann::ordered_json entry;
    entry["size"] = row.size;
    entry["method"] = row.method;
    entry["kernel"] = entry["max_error"] = entry["relative_error"] = nullptr;
    if (row.kernel) entry["kernel"] = *row.kernel;
    // JSON has no infinity: null stands for overflowed accumulators.
    if (std::isfinite(row.max_error)) {
      entry["max_error"] = row.max_error;
      entry["relative_error"] = row.relative_error;
    }
    entry["within_tolerance"] = row.within_tolerance;
    entry["ms"] = nullptr;
    if (row.ms) entry["ms"] = *row.ms;
    json["rows"].push_back(std::move(entry));
  }
  json["breaks_down_at"] = nlohmann::ordered_json::object();
  for (const std::string& method : study_methods()) {
    const std::optional<std::int64_t> size = breaks_down_at(rows, method);
    json["breaks_down_at"][method] = nullptr;
    if (size) json["breaks_down_at"][method] = *size;
  }
  print_json(std::move(json));
}

void print_study_text(const PrecisionOptions& o, const Device& device, const std::vector<StudyRow>& rows) {
  std::printf("%s, %s numbers, seed %llu\n", device.description().c_str(), o.numbers.c_str(),
              static_cast<unsigned long long>(o.study.seed));
  std::printf("%6s  %-8s  %10s  %14s  %9s  %10s\n", "size", "method", "max error", "relative error",
              "tolerance", "ms");
  for (const StudyRow& row : rows) {
    char ms[32] = "-";
    if (row.ms) std::snprintf(ms, sizeof ms, "%.4f", *row.ms);
    std::printf("%6lld  %-8s  %10.3g  %14.3g  %9s  %10s\n", static_cast<long long>(row.size),
                row.method.c_str(), row.max_error, row.relative_error,
                row.within_tolerance ? "within" : "outside", ms);
  }
  for (const std::string& method : study_methods()) {
    if (const std::optional<std::int64_t> size = breaks_down_at(rows, method)) {
      std::printf("%s is outside the tolerance from size %lld on\n", method.c_str(),
                  static_cast<long long>(*size));
    }
  }
}

void run_precision(PrecisionOptions o) {
  const std::unique_ptr<Device> device = open_study_device(o);
  const bool emulated = std::string(device->kind()) == "emulator";
  o.study.largest = o.largest != 0 ? o.largest : emulated ? largest_emulated : largest_on_a_gpu;
  o.study.numbers = o.numbers == "uniform" ? StudyNumbers::uniform : StudyNumbers::normal;
  const std::vector<StudyRow> rows = precision_study(*device, o.study);
  o.json ? print_study_json(o, *device, rows) : print_study_text(o, *device, rows);
}

}  // namespace

void add_precision(CLI::App& application) {
  CLI::App* command = application.add_subcommand(
      "precision", "Errors of products of f32 operands against FP64, by size and method");
  const auto o = std::make_shared<PrecisionOptions>();
  command
      ->add_option(
          "--largest", o->largest,
          "The largest size: m = n = k are the powers of two from 64 to it (default: 4096 on a GPU, 128 "
          "in the emulator)")
      ->transform(whole_number(64, 16384));
  command
      ->add_option("--numbers", o->numbers,
                   "The operands: N(0, 1), or uniform in [0, 1), where all partial sums grow")
      ->check(CLI::IsMember({"normal", "uniform"}))
      ->capture_default_str();
  command->add_option("--seed", o->study.seed, "Seed of the operands")
      ->transform(seed_number())
      ->capture_default_str();
  command
      ->add_option("--device", o->device,
                   "Where to run; auto: on a GPU if there is one, else in the emulator, which gives the same "
                   "numbers without times")
      ->check(CLI::IsMember({"auto", "cuda", "emulator"}))
      ->capture_default_str();
  command->add_flag(
      "--json", o->json,
      "Print one object: device, device_name, numbers, seed, rtol, atol, rows with size, method, kernel, "
      "max_error, relative_error (both null where accumulators overflowed), within_tolerance and ms (null in "
      "the "
      "emulator), and breaks_down_at, a size or null for each method; scripts/plot draws it");
  command->footer(
      "Methods: f32 (FP32 fused multiply-adds on CUDA cores), bf16x6, tf32x3, bf16x3, tf32, f16, bf16 (the\n"
      "precisions of gemm(), accumulators in f32) and f16_f16 (operands and accumulators in f16). The "
      "elements of\n"
      "up to 64 rows and 64 columns are compared. A method breaks down where an element errs by more than\n"
      "0.01 + 0.05 |exact|.\n"
      "Examples:\n"
      "  tenon precision\n"
      "  tenon precision --numbers uniform --largest 8192 --json\n"
      "  tenon precision --device emulator --largest 64");
  command->callback([o] { run_precision(*o); });
}

}  // namespace tenon::command
