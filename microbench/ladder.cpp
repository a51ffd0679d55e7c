#include "microbench/ladder.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tenon::microbench {
namespace {

constexpr Types on_cuda_cores{Type::f32, Type::f32, Type::f32, Type::f32},
    on_tensor_cores{Type::f16, Type::f16, Type::f32, Type::f16},
    bf16{Type::bf16, Type::bf16, Type::f32, Type::bf16}, tf32{Type::tf32, Type::tf32, Type::f32, Type::f32},
    s8{Type::s8, Type::s8, Type::s32, Type::s32}, f64{Type::f64, Type::f64, Type::f64, Type::f64};

double milliseconds(const Shape& shape, double tflops) {
  const double flop =
      2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  return tflops > 0 ? flop / (tflops * 1e9) : 0;
}

LadderRow row_of(const Rung& rung, const Record& record) {
  LadderRow row;
  row.rung = rung.label;
  row.types = record.types;
  row.is_reference = rung.prefix.empty();
  row.kernel = row.is_reference ? record.reference : record.kernel;
  row.tflops = row.is_reference ? record.reference_tflops_burst : record.tflops_burst;
  row.ms = milliseconds(record.shape, row.tflops);
  if (row.is_reference) return row;
  row.flop_per_clk_per_sm = record.flop_per_clk_per_sm;
  row.max_error = record.max_error;
  row.error_bound = record.error_bound;
  return row;
}

nlohmann::ordered_json known(double value) {
  return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

const std::vector<Rung>& rungs() {
  static const std::vector<Rung> all = {
      {"naive FP32", "naive_f32", on_cuda_cores},
      {"tiled FP32", "tiled_f32", on_cuda_cores},
      {"cuBLAS SGEMM", "", on_cuda_cores},
      {"WMMA in f64, 8x8x4", "wmma_8x8x4", f64},
      {"WMMA in tf32, 16x16x8", "wmma_16x16x8", tf32},
      {"WMMA in s8, 16x16x16", "wmma_s8", s8},
      {"WMMA in bf16, 16x16x16", "wmma_basic", bf16},
      {"WMMA in f16, 32x8x16", "wmma_32x8x16", on_tensor_cores},
      {"WMMA in f16, 8x32x16", "wmma_8x32x16", on_tensor_cores},
      {"WMMA from global memory", "wmma_basic", on_tensor_cores},
      {"WMMA from shared memory", "wmma_shared", on_tensor_cores},
      {"mma.sync, cp.async ring", "cp_async_", on_tensor_cores},
      {"mma.sync, cp.async ring, by hand in PTX", "module_", on_tensor_cores},
      {"mma.sync, TMA ring", "tma_", on_tensor_cores},
      {"wgmma, TMA ring", "wgmma_", on_tensor_cores},
      {"cuBLASLt", "", on_tensor_cores},
  };
  return all;
}

std::vector<LadderRow> climb(const std::vector<Record>& records) {
  std::vector<LadderRow> rows;
  for (const Rung& rung : rungs()) {
    const Record* best = nullptr;
    for (const Record& record : records) {
      const bool stands_here = record.types == name(rung.types) && record.kernel.rfind(rung.prefix, 0) == 0;
      if (stands_here && (best == nullptr || record.tflops_burst > best->tflops_burst)) best = &record;
    }
    if (best != nullptr) rows.push_back(row_of(rung, *best));
  }
  const bool is_complete =
      !rows.empty() && rows.back().is_reference && rows.back().types == name(on_tensor_cores);
  for (LadderRow& row : rows)
    row.ratio = is_complete && rows.back().tflops > 0 ? row.tflops / rows.back().tflops : 0;
  return rows;
}

std::string table(const std::vector<LadderRow>& rows) {
  const auto cell = [](double value, const char* pattern) {
    char text[32];
    std::snprintf(text, sizeof text, pattern, value);
    return std::string(value > 0 ? text : "-");
  };
  char line[512];
  std::snprintf(line, sizeof line, "%-40s %-12s %10s %9s %8s %9s %10s %10s  %s\n", "rung", "types", "ms",
                "TFLOP/s", "ratio", "FLOP/clk", "max error", "bound", "kernel");
  std::string text = line;
  for (const LadderRow& row : rows) {
    std::snprintf(line, sizeof line, "%-40s %-12s %10s %9s %8s %9s %10s %10s  %s\n", row.rung.c_str(),
                  row.types.c_str(), cell(row.ms, "%.4f").c_str(), cell(row.tflops, "%.2f").c_str(),
                  cell(row.ratio, "%.4f").c_str(), cell(row.flop_per_clk_per_sm, "%.0f").c_str(),
                  cell(row.max_error, "%.3g").c_str(), cell(row.error_bound, "%.3g").c_str(),
                  row.kernel.c_str());
    text += line;
  }
  return text;
}

nlohmann::ordered_json to_json(const Shape& shape, const std::vector<Record>& records) {
  nlohmann::ordered_json json = {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}};
  json["machine"] = records.empty() ? "" : records.front().machine;
  json["toolkit"] = records.empty() ? "" : records.front().toolkit;
  json["rows"] = nlohmann::ordered_json::array();
  for (const LadderRow& row : climb(records)) {
    nlohmann::ordered_json entry = {{"rung", row.rung},
                                    {"kernel", row.kernel},
                                    {"types", row.types},
                                    {"ms", known(row.ms)},
                                    {"tflops", known(row.tflops)},
                                    {"ratio", known(row.ratio)},
                                    {"flop_per_clk_per_sm", known(row.flop_per_clk_per_sm)}};
    entry["max_error"] = entry["error_bound"] = entry["ok"] = nullptr;
    if (!row.is_reference) {
      entry["max_error"] = row.max_error;
      entry["error_bound"] = row.error_bound;
      entry["ok"] = true;  // wrong results are not timed and have no record
    }
    json["rows"].push_back(entry);
  }
  return json;
}

}  // namespace tenon::microbench
