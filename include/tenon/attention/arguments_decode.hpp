// The arguments of the decode kernels besides their score function, and the sequence of a batch as a kernel
// finds it in device memory. Below: batch_sequence.hpp.
#pragma once

#include "tenon/attention/batch_sequence.hpp"

namespace tenon {

struct AttentionDecodeArguments {
  AttentionTensor<const void*> q, k, v;
  AttentionTensor<void*> o;
  float* log_sum_exp;  // may be null
  const float* sinks;  // may be null
  VariableLengths lengths;
  int queries, keys;  // the most of a batch
  int heads, key_heads, group;
  int left, right;        // of the window; no limit: AttentionArguments::unlimited_keys
  int row_tiles, splits;  // of a key head of a batch
  Divisor by_row_tiles, by_splits, by_key_heads, by_group;
  // Where splits > 1: of each row and split, O and the logarithm (base 2) of the sum of its weights. The rows
  // are counted as those of the log-sum-exp.
  float *split_o, *split_log2_sums;
};

// The queries and keys of a batch, and where their rows begin beside its strides.
struct DecodeSequence {
  int first_query, first_key, queries, keys;
};
__device__ __forceinline__ DecodeSequence sequence_of(const AttentionDecodeArguments& a, int batch) {
  const BatchRows queries = queries_of_batch(a.lengths, batch, a.queries),
                  keys = keys_of_batch(a.lengths, batch, a.keys);
  return {queries.first, keys.first, queries.count, keys.count};
}

// Of the queries `first` to `last` of a sequence: the keys that at least one of them sees, and the keys that
// all of them see.
__device__ __forceinline__ KeyRange keys_seen_by_one(const AttentionDecodeArguments& a,
                                                     const DecodeSequence& s, int first, int last) {
  const int offset = s.keys - s.queries;
  return {max(first + offset - a.left, 0), min(last + offset + a.right + 1, s.keys)};
}
__device__ __forceinline__ KeyRange keys_seen_by_each(const AttentionDecodeArguments& a,
                                                      const DecodeSequence& s, int first, int last) {
  const int offset = s.keys - s.queries;
  return {max(last + offset - a.left, 0), min(first + offset + a.right + 1, s.keys)};
}

// What a CTA computes: rows of 16 of a key head, over one of the splits of the keys.
struct DecodeWork {
  int batch, key_head, row_tile, split;
};
__device__ __forceinline__ DecodeWork decode_work(const AttentionDecodeArguments& a, int index) {
  const int tiles = a.by_row_tiles.quotient(index), of_batches = a.by_splits.quotient(tiles);
  const int batch = a.by_key_heads.quotient(of_batches);
  return {batch, of_batches - batch * a.key_heads, index - tiles * a.row_tiles,
          tiles - of_batches * a.splits};
}

// The tiles of one split, where the splits divide those with the keys `seen` into equal parts. tile: keys of
// one.
__device__ __forceinline__ SplitTiles tiles_of_split(const AttentionDecodeArguments& a, const KeyRange& seen,
                                                     int split, int tile) {
  const SplitTiles all = tiles_of(seen, tile);
  return tiles_of_split(all, split, a.by_splits.quotient(all.tiles + a.splits - 1), tile);
}

// A row: a query token and one of the heads of the group that shares a key head.
struct DecodeRow {
  int query, head;
};
__device__ __forceinline__ DecodeRow decode_row(const AttentionDecodeArguments& a, int key_head, int row) {
  const int query = a.by_group.quotient(row);
  return {query, key_head * a.group + row - query * a.group};
}

// Where its log-sum-exp stands.
__device__ __forceinline__ std::int64_t place_of(const AttentionDecodeArguments& a, int batch,
                                                 DecodeRow row) {
  return (static_cast<std::int64_t>(batch) * a.heads + row.head) * a.queries + row.query;
}

}  // namespace tenon
