// The ladder of attention: one problem in f16 by successively better methods, from scalar arithmetic to
// wgmma. A rung is the fastest of its kernels.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "microbench/machine.hpp"

namespace tenon::microbench {

// The default: the problem of the founding documents.
struct AttentionShape {
  std::int64_t batch = 1, heads = 8, queries = 512, keys = 512;
  int head_dimension = 64;
  bool causal = false;

  // Two products for each key that a query sees.
  double flop() const;
};

struct AttentionRung {
  std::string label, prefix;  // of its kernels' names
};
// From the bottom up. The first is what the others are compared with, in time and in values.
const std::vector<AttentionRung>& attention_rungs();
// The rung of a kernel; nullptr if it stands on none.
const AttentionRung* attention_rung_of(const std::string& kernel);

// A kernel whose result is right, in bursts.
struct AttentionMeasurement {
  std::string kernel;
  double microseconds = 0;
  double max_error = 0, error_bound = 0;  // against float64 for the first rung, against that for the others
  std::string odd;                        // why the figure may be off
};

struct AttentionLadderRow {
  std::string rung, kernel;
  double ms = 0, tflops = 0;
  double factor = 0;  // of the first rung's time; 0 if that is unknown
  double max_error = 0, error_bound = 0;
};

// A rung without a kernel has no row.
std::vector<AttentionLadderRow> climb(const AttentionShape& shape,
                                      const std::vector<AttentionMeasurement>& measured);

std::string table(const std::vector<AttentionLadderRow>& rows);
// {batch, heads, queries, keys, head_dimension, causal, machine, toolkit, rows: [{rung, kernel, ms, tflops,
// factor, max_error, error_bound, ok}]}; an unknown factor is null.
nlohmann::ordered_json to_json(const AttentionShape& shape, const Machine& machine,
                               const std::vector<AttentionLadderRow>& rows);

struct AttentionLadder {
  Machine machine;
  std::vector<AttentionMeasurement> measured;
  std::vector<std::string> wrong;  // sentences: kernels that failed or whose result is wrong
};

// Checks and times every kernel of the rungs that takes the problem, on the current device. Throws Failure if
// nothing can be measured.
AttentionLadder measure_attention_ladder(const AttentionShape& shape);

}  // namespace tenon::microbench
