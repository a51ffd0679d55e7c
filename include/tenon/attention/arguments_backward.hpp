// The arguments of the backward kernels of attention, and what lies in their workspace. Plain C++17. Below:
// arguments_mma.hpp, backward_problem.hpp.
#pragma once

#include "tenon/attention/arguments_mma.hpp"
#include "tenon/attention/backward_problem.hpp"

namespace tenon {

// In the workspace the rows of a head are padded to a multiple of this with queries that see no key, so that
// the kernels read whole tiles of it.
inline constexpr int backward_row_padding = 128;

// dQ in f32 of the heads in progress, of the kernel whose CTAs add to it (query_sums_backward_wgmma.hpp):
// head h of all batches has slot h % slots. Once rounded it is cleared, so that the next head of the slot
// finds zeros.
struct BackwardQuerySums {
  float* sums;  // null: none
  // Of each slot the warps that have finished a head, and the parts of dQ that were rounded, both of all
  // heads that it held. If not null, the CTAs add in the order of their keys, the last ones first, and each
  // part of a tile has the number of CTAs that have added to it.
  std::uint32_t *finished, *rounded, *turns;
  int slots, counters;  // counters: of all kinds, from `finished` on
  int adders, parts;    // of a head: tiles of keys, and CTAs that round
  Divisor by_slots;
};

struct AttentionBackwardArguments {
  AttentionTensor<const void*> q, k, v, o, d_o;
  AttentionTensor<void*> dq, dk, dv;
  const float* log_sum_exp;
  // Workspace, of each padded row of each head of all batches: the log-sum-exp to base 2, +infinity where no
  // key is seen, so that P is 0; and the sum of dO * O.
  float *log2_sums, *deltas;
  BackwardQuerySums dq_sums;
  int queries, keys, padded_queries;
  int heads, key_heads, group;  // group: heads that share a head of K and V
  int head_dimension, value_dimension;
  int left, right;  // of the window, as in AttentionArguments
  float scale;
  AttentionRaster query_tiles;  // of tiles of queries, and heads of all batches
  AttentionRaster key_tiles;    // of tiles of keys, and heads of keys of all batches
  Divisor by_heads, by_key_heads, by_group, by_padded_tiles;
};

// All but rows in bytes.
struct BackwardWorkspace {
  std::int64_t rows, deltas_at, counters_at, dq_sums_at, bytes;
};
// slots, counters: of BackwardQuerySums.
constexpr BackwardWorkspace backward_workspace(const AttentionProblem& p, std::int64_t slots = 0,
                                               std::int64_t counters = 0) {
  const std::int64_t padded =
      (p.queries + backward_row_padding - 1) / backward_row_padding * backward_row_padding;
  const std::int64_t rows = padded * p.heads * p.batch;
  const std::int64_t dq_sums_at = 8 * rows + (4 * counters + 127) / 128 * 128;
  return {rows, 4 * rows, 8 * rows, dq_sums_at, dq_sums_at + 4 * slots * padded * p.head_dimension};
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
