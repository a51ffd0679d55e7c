#include "microbench/instruction/result.hpp"

#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tenon::microbench::instruction {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(double value) {
  return value > 0 ? Json(value) : Json(nullptr);
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

Json to_json(const Case& test, const Measurement& measurement, const Origin& origin) {
  const Figures& f = measurement.figures;
  Json axes = Json::object();
  for (const auto& [name, value] : test.axes) axes[name] = value;
  return {{"benchmark", "instruction"},
          {"name", test.name},
          {"family", test.kernel->family},
          {"instruction", test.kernel->instruction},
          {"measure", test.measure},
          {"axes", axes},
          {"cycles", f.cycles},
          {"spread", f.spread},
          {"operations_per_clk_per_sm", f.operations_per_clk_per_sm},
          {"flop_per_clk_per_sm", or_null(f.flop_per_clk_per_sm)},
          {"bytes_per_clk_per_sm", or_null(f.bytes_per_clk_per_sm)},
          {"tflops", or_null(test.grid == "all" ? f.tflops : 0)},
          {"gigabytes_per_second",
           or_null(test.grid == "all" || test.grid == "clusters" ? f.gigabytes_per_second : 0)},
          {"blocks", measurement.blocks},
          {"sm_mhz", or_null(f.sm_mhz)},
          {"watts", or_null(measurement.watts)},
          {"native", test.kernel->native},
          {"loop", test.kernel->loop},
          {"trips", measurement.trips},
          {"attempts", measurement.attempts},
          {"commit", origin.commit},
          {"machine", origin.machine},
          {"toolkit", origin.toolkit},
          {"date", origin.date}};
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
  // "\n]\n" ends the file: the next result is written over it.
  std::fstream file(path_, empty_ ? std::ios::out | std::ios::trunc : std::ios::in | std::ios::out);
  if (!empty_) file.seekp(-3, std::ios::end);
  file << (empty_ ? "[\n" : ",\n") << result.dump() << "\n]\n";
  if (!file.flush()) throw Failure("cannot write '" + path_ + "'");
  empty_ = false;
}

}  // namespace tenon::microbench::instruction
