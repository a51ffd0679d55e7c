#include "command_line/emulator_report.hpp"

#include <algorithm>

namespace tenon::command {
namespace {

nlohmann::ordered_json position(const emulator::Dim3& at) {
  return {at.x, at.y, at.z};
}

}  // namespace

nlohmann::ordered_json findings_json(const std::vector<emulator::Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const emulator::Finding& finding : findings) {
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (const emulator::Finding::Line& line : finding.lines)
      lines.push_back({{"ptx_line", line.ptx_line}, {"source", line.source}, {"count", line.count}});
    list.push_back({{"kind", emulator::name(finding.kind)},
                    {"entry", finding.entry},
                    {"ptx_line", finding.ptx_line},
                    {"source", finding.source},
                    {"count", finding.count},
                    {"first",
                     {{"block", position(finding.first.block)},
                      {"thread", position(finding.first.thread)},
                      {"address", finding.first.address}}},
                    {"message", finding.message},
                    {"lines", std::move(lines)}});
  }
  return list;
}

nlohmann::ordered_json counts_json(const emulator::Counts& counts) {
  return {{"instructions", counts.instructions},
          {"thread_instructions", counts.thread_instructions},
          {"matrix_operations", counts.matrix_operations},
          {"flop", counts.flop},
          {"shared_wavefronts", counts.shared_wavefronts},
          {"ideal_shared_wavefronts", counts.ideal_shared_wavefronts},
          {"global_sectors", counts.global_sectors},
          {"ideal_global_sectors", counts.ideal_global_sectors},
          {"async_bytes", counts.async_bytes}};
}

std::string other_lines_text(const emulator::Finding& finding) {
  constexpr std::size_t most = 8;
  std::vector<int> others;
  for (const emulator::Finding::Line& line : finding.lines)
    if (line.ptx_line != finding.ptx_line) others.push_back(line.ptx_line);
  if (others.empty()) return {};
  std::string text = others.size() == 1 ? ", also at PTX line " : ", also at PTX lines ";
  for (std::size_t i = 0; i < std::min(most, others.size()); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(others[i]);
  if (others.size() > most) text += " and " + std::to_string(others.size() - most) + " more";
  return text;
}

std::string finding_text(const emulator::Finding& finding) {
  return std::string(emulator::name(finding.kind)) + " in " + finding.entry + " at PTX line " +
         std::to_string(finding.ptx_line) + (finding.source.empty() ? "" : " (" + finding.source + ")") +
         ", " + std::to_string(finding.count) + (finding.count == 1 ? " time" : " times") +
         other_lines_text(finding) + ": " + finding.message;
}

}  // namespace tenon::command
