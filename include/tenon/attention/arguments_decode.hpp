// The arguments of the decode kernels besides their score function, and the sequence of a batch as a kernel
// finds it in device memory. Below: arguments_mma.hpp.
#pragma once

#include "tenon/attention/arguments_mma.hpp"

namespace tenon {

struct AttentionDecodeArguments {
  AttentionTensor<const void*> q, k, v;
  AttentionTensor<void*> o;
  float* log_sum_exp;                                                          // may be null
  const float* sinks;                                                          // may be null
  const std::int32_t *query_offsets, *key_offsets, *key_lengths, *page_table;  // each may be null
  std::int32_t* error;                                                         // may be null
  std::int64_t page_table_stride;
  std::int64_t query_rows, key_rows, pages;
  int queries, keys;  // the most of a batch
  int heads, key_heads, group;
  int page_size;
  int left, right;        // of the window; no limit: AttentionArguments::unlimited_keys
  int row_tiles, splits;  // of a key head of a batch
  Divisor by_row_tiles, by_splits, by_key_heads, by_group, by_page_size;
  // Where splits > 1: of each row and split, O and the logarithm (base 2) of the sum of its weights. The rows
  // are counted as those of the log-sum-exp.
  float *split_o, *split_log2_sums;
};

// The queries and keys of a batch.
struct DecodeSequence {
  std::int64_t query_row, key_row;  // the first of the batch, from where query_batch and key_batch begin
  int query_batch, key_batch;
  int queries, keys;
};

// The rows from offsets[0] to offsets[1], where they lie within `rows` and are not more than `most`.
struct DecodeRows {
  std::int64_t first = 0;
  int count = 0;
};
__device__ __forceinline__ DecodeRows rows_between(const std::int32_t* offsets, std::int64_t rows, int most,
                                                   bool* wrong) {
  const std::int64_t begin = offsets[0], end = offsets[1];
  if (begin < 0 || end < begin || end > rows || end - begin > most) {
    *wrong = true;
    return {};
  }
  return {begin, static_cast<int>(end - begin)};
}

__device__ __forceinline__ DecodeSequence sequence_of(const AttentionDecodeArguments& a, int batch) {
  DecodeSequence s{0, 0, batch, batch, a.queries, a.keys};
  bool wrong = false;
  if (a.query_offsets != nullptr) {
    const DecodeRows rows = rows_between(a.query_offsets + batch, a.query_rows, a.queries, &wrong);
    s.query_row = rows.first, s.queries = rows.count, s.query_batch = 0;
  }
  if (a.key_offsets != nullptr) {
    const DecodeRows rows = rows_between(a.key_offsets + batch, a.key_rows, a.keys, &wrong);
    s.key_row = rows.first, s.keys = rows.count, s.key_batch = 0;
  } else if (a.key_lengths != nullptr) {
    s.keys = a.key_lengths[batch];
    if (s.keys < 0 || s.keys > a.keys) {
      wrong = true;
      s.keys = 0;
    }
  }
  if (wrong && a.error != nullptr) *a.error = 1;
  return s;
}

// The keys that one of the queries first .. last of a sequence sees, and those that each of them sees.
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
