// The arguments of the backward kernels of attention, and what lies in their workspace. Plain C++17. Below:
// arguments_mma.hpp, backward_problem.hpp.
#pragma once

#include "tenon/attention/arguments_mma.hpp"
#include "tenon/attention/backward_problem.hpp"

namespace tenon {

// In the workspace the rows of a head are padded to a multiple of this with queries that see no key, so that
// the kernels read whole tiles of it.
inline constexpr int backward_row_padding = 128;

struct AttentionBackwardArguments {
  AttentionTensor<const void*> q, k, v, o, d_o;
  AttentionTensor<void*> dq, dk, dv;
  const float* log_sum_exp;
  // Workspace, of each padded row of each head of all batches: the log-sum-exp to base 2, +infinity where no
  // key is seen, so that P is 0; the sum of dO * O; and, unless null, dQ in f32 (kernel_backward_wgmma.hpp).
  float *log2_sums, *deltas, *dq_sums;
  int queries, keys, padded_queries;
  int heads, key_heads, group;  // group: heads that share a head of K and V
  int head_dimension, value_dimension;
  int left, right;  // of the window, as in AttentionArguments
  float scale;
  AttentionRaster query_tiles;  // of tiles of queries, and heads of all batches
  AttentionRaster key_tiles;    // of tiles of keys, and heads of keys of all batches
  Divisor by_heads, by_key_heads, by_group, by_padded_tiles;
};

struct BackwardWorkspace {
  std::int64_t rows, deltas_at, dq_sums_at, bytes;  // all but rows in bytes
};
// dq_sums: whether dQ in f32 is part of it.
constexpr BackwardWorkspace backward_workspace(const AttentionProblem& p, bool dq_sums) {
  const std::int64_t padded =
      (p.queries + backward_row_padding - 1) / backward_row_padding * backward_row_padding;
  const std::int64_t rows = padded * p.heads * p.batch;
  return {rows, 4 * rows, 8 * rows, 8 * rows + (dq_sums ? 4 * rows * p.head_dimension : 0)};
}

// The queries that see at least one of the keys `first` to `last`: what a tile of keys must visit.
TENON_HOST_DEVICE constexpr KeyRange seeing_queries(const AttentionBackwardArguments& a, int first,
                                                    int last) {
  const int offset = a.keys - a.queries;
  const int begin = first - offset - a.right, end = last - offset + a.left + 1;
  return {begin < 0 ? 0 : begin, end < a.queries ? end : a.queries};
}
// The keys that at least one of the queries `first` to `last` sees.
TENON_HOST_DEVICE constexpr KeyRange seen_keys(const AttentionBackwardArguments& a, int first, int last) {
  const int offset = a.keys - a.queries;
  const int begin = first + offset - a.left, end = last + offset + a.right + 1;
  return {begin < 0 ? 0 : begin, end < a.keys ? end : a.keys};
}

}  // namespace tenon
