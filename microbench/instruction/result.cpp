#include "microbench/instruction/result.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

namespace tenon::microbench::instruction {
namespace {

using Json = nlohmann::ordered_json;

// Six digits: more than the repeats agree in, and a small file.
double rounded(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return std::strtod(digits, nullptr);
}

__attribute__((format(printf, 1, 2))) std::string text(const char* format, ...) {
  char buffer[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

}  // namespace

Json to_json(const Case& test, const Measurement& measurement) {
  const Figures& f = measurement.figures;
  const bool together = test.grid == "all" || test.grid == "clusters";
  Json json = {{"name", test.name}};
  const auto add = [&json](const char* name, double value) {
    if (value > 0) json[name] = rounded(value);
  };
  add("cycles", f.cycles);
  json["spread"] = rounded(f.spread);
  json["error"] = rounded(f.error);
  json["repeats"] = f.repeats;
  add("operations_per_clk_per_sm", f.operations_per_clk_per_sm);
  add("flop_per_clk_per_sm", f.flop_per_clk_per_sm);
  add("bytes_per_clk_per_sm", f.bytes_per_clk_per_sm);
  add("tflops", test.grid == "all" ? f.tflops : 0);
  add("gigabytes_per_second", together ? f.gigabytes_per_second : 0);
  add("sm_mhz", f.sm_mhz);
  add("watts", measurement.watts);
  if (measurement.blocks > 1) json["blocks"] = measurement.blocks;
  if (!test.kernel->native) json["emulated"] = true;
  return json;
}

std::string table_header() {
  return text("%-86s %10s %7s %11s %9s %9s %9s %6s", "case", "cycles", "spread", "FLOP/clk/SM", "B/clk/SM",
              "TFLOP/s", "GB/s", "MHz");
}

std::string table_row(const Case& test, const Measurement& measurement) {
  const Figures& f = measurement.figures;
  if (!f.odd.empty()) return text("%-86s not reported: %s", test.name.c_str(), f.odd.c_str());
  const auto number = [](double value) { return value > 0 ? text("%.1f", value) : std::string("-"); };
  const bool together = test.grid == "all" || test.grid == "clusters";
  return text("%-86s %10.2f %6.2f%% %11s %9s %9s %9s %6.0f", test.name.c_str(), f.cycles, 100 * f.spread,
              number(f.flop_per_clk_per_sm).c_str(), number(f.bytes_per_clk_per_sm).c_str(),
              number(together ? f.tflops : 0).c_str(), number(together ? f.gigabytes_per_second : 0).c_str(),
              f.sm_mhz);
}

void ResultFile::add(const Json& result) {
  if (path_.empty()) return;
  constexpr std::string_view end = "\n]}\n";  // the next result overwrites it
  std::fstream file(path_, empty_ ? std::ios::out | std::ios::trunc : std::ios::in | std::ios::out);
  if (empty_) {
    const Json head = {{"benchmark", "instruction"},
                       {"commit", origin_.commit},
                       {"machine", origin_.machine},
                       {"toolkit", origin_.toolkit},
                       {"date", origin_.date}};
    const std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
    file << text.substr(0, text.size() - 1) << ",\"results\":[\n";
  } else {
    file.seekp(-static_cast<std::streamoff>(end.size()), std::ios::end);
    file << ",\n";
  }
  file << result.dump() << end;
  if (!file.flush()) throw Failure("cannot write '" + path_ + "'");
  empty_ = false;
}

}  // namespace tenon::microbench::instruction
