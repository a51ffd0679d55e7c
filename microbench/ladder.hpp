// The ladder: one product computed by successively better methods, from one thread an element on CUDA cores
// to cuBLASLt. A rung is the fastest of its kernels.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "microbench/record.hpp"

namespace tenon::microbench {

// The kernels of a rung, by the start of their names, or cuBLASLt itself (no prefix).
struct Rung {
  std::string label;
  std::string prefix;  // of the kernels' names
  Types types;         // FP32 throughout for CUDA cores and SGEMM, f16 in and out for tensor cores
};

// From the bottom up. The last is the reference for all ratios.
const std::vector<Rung>& rungs();

struct LadderRow {
  std::string rung, kernel, types;
  double ms = 0, tflops = 0;
  double ratio = 0;                // to the last rung; 0 if unknown
  double flop_per_clk_per_sm = 0;  // 0 if unknown, as for cuBLASLt
  double max_error = 0, error_bound = 0;
  bool is_reference = false;  // its error is unknown
};

// The rows of one shape, from burst measurements; a rung without a kernel has none.
std::vector<LadderRow> climb(const std::vector<Record>& records);

std::string table(const std::vector<LadderRow>& rows);
// {m, n, k, machine, toolkit, rows: [{rung, kernel, types, ms, tflops, ratio, flop_per_clk_per_sm, max_error,
// error_bound, ok}]}; unknown values are null.
nlohmann::ordered_json to_json(const Shape& shape, const std::vector<Record>& records);

}  // namespace tenon::microbench
