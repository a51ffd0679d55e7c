// The rungs, rows and texts of attention_ladder.hpp.
#include "microbench/attention_ladder.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "microbench/statistics.hpp"

namespace tenon::microbench {

double AttentionShape::flop() const {
  double pairs = static_cast<double>(queries) * static_cast<double>(keys);
  if (causal) {  // query i sees the keys up to i + keys - queries
    pairs = 0;
    for (std::int64_t i = std::max<std::int64_t>(0, queries - keys); i < queries; ++i)
      pairs += static_cast<double>(i + keys - queries + 1);
  }
  return 4 * static_cast<double>(batch * heads) * pairs * head_dimension;
}

const std::vector<AttentionRung>& attention_rungs() {
  static const std::vector<AttentionRung> all = {
      {"scalar FP32, a warp a query", "scalar_f32"},
      {"WMMA, S and P in shared memory", "wmma"},
      {"mma.sync, S and P in registers", "attention_mma_"},
      {"wgmma, TMA ring", "attention_wgmma_"},
  };
  return all;
}

const AttentionRung* attention_rung_of(const std::string& kernel) {
  for (const AttentionRung& rung : attention_rungs()) {
    if (kernel.rfind(rung.prefix, 0) == 0) return &rung;
  }
  return nullptr;
}

std::vector<AttentionLadderRow> climb(const AttentionShape& shape,
                                      const std::vector<AttentionMeasurement>& measured) {
  std::vector<AttentionLadderRow> rows;
  for (const AttentionRung& rung : attention_rungs()) {
    const AttentionMeasurement* best = nullptr;
    for (const AttentionMeasurement& x : measured) {
      if (attention_rung_of(x.kernel) != &rung) continue;
      if (best == nullptr || x.microseconds < best->microseconds) best = &x;
    }
    if (best == nullptr) continue;
    AttentionLadderRow row;
    row.rung = rung.label, row.kernel = best->kernel;
    row.ms = best->microseconds * 1e-3, row.tflops = tflops(shape.flop(), best->microseconds);
    row.max_error = best->max_error, row.error_bound = best->error_bound;
    rows.push_back(row);
  }
  const bool has_scalar = !rows.empty() && rows[0].rung == attention_rungs()[0].label;
  for (AttentionLadderRow& row : rows) row.factor = has_scalar && row.ms > 0 ? rows[0].ms / row.ms : 0;
  return rows;
}

std::string table(const std::vector<AttentionLadderRow>& rows) {
  char line[512];
  std::snprintf(line, sizeof line, "%-32s %10s %9s %8s %10s %10s  %s\n", "rung", "ms", "TFLOP/s", "factor",
                "max error", "bound", "kernel");
  std::string text = line;
  for (const AttentionLadderRow& row : rows) {
    char factor[32] = "-";
    if (row.factor > 0) std::snprintf(factor, sizeof factor, "%.2f", row.factor);
    std::snprintf(line, sizeof line, "%-32s %10.4f %9.2f %8s %10.3g %10.3g  %s\n", row.rung.c_str(), row.ms,
                  row.tflops, factor, row.max_error, row.error_bound, row.kernel.c_str());
    text += line;
  }
  return text;
}

nlohmann::ordered_json to_json(const AttentionShape& shape, const Machine& machine,
                               const std::vector<AttentionLadderRow>& rows) {
  nlohmann::ordered_json json = {{"batch", shape.batch},
                                 {"heads", shape.heads},
                                 {"queries", shape.queries},
                                 {"keys", shape.keys},
                                 {"head_dimension", shape.head_dimension},
                                 {"causal", shape.causal},
                                 {"machine", machine.name},
                                 {"toolkit", machine.toolkit}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const AttentionLadderRow& row : rows) {
    nlohmann::ordered_json entry = {
        {"rung", row.rung}, {"kernel", row.kernel}, {"ms", row.ms}, {"tflops", row.tflops}};
    entry["factor"] = row.factor > 0 ? nlohmann::ordered_json(row.factor) : nlohmann::ordered_json(nullptr);
    entry["max_error"] = row.max_error, entry["error_bound"] = row.error_bound;
    entry["ok"] = true;  // wrong results are not timed and have no row
    json["rows"].push_back(entry);
  }
  return json;
}

}  // namespace tenon::microbench
