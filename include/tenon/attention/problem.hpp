// The problem of attention. Plain C++17. Below: gemm/types.hpp.
#pragma once

#include "tenon/gemm/types.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// A device tensor of batch x rows x heads x head dimension. The head dimension is contiguous. Strides in
// elements; a stride of 0 repeats the same rows, heads or batches.
template <class Pointer>
struct AttentionTensor {
  Pointer data = nullptr;
  std::int64_t row_stride = 0, head_stride = 0, batch_stride = 0;
};

// Which keys a query sees. Query i of a sequence stands at key position i + keys - queries (the sequences end
// together). It sees the keys from position - left to position + right; a negative number means no limit.
// Causal: {-1, 0}. A query that sees no key gets an output of 0 and a log-sum-exp of -infinity.
struct AttentionWindow {
  int left = -1, right = -1;
};

// Keys and values that lie in pages of a pool: key i of batch b is row i % page_size of page
// table[b * table_stride + i / page_size]. The batch strides of k and v are then the strides of pages.
struct AttentionPages {
  const std::int32_t* table = nullptr;  // device memory; null: keys and values are not paged
  std::int64_t table_stride = 0;        // entries from a batch to the next
  int page_size = 0;                    // keys of a page, 1 to 256
  std::int64_t count = 0;               // pages of the pool
};

// Scales of a tensor of e4m3: an element stands for itself times the scale of its batch and its head of keys,
// heads of Q likewise by the head of keys that they read. Strides in floats, 0 repeats. Not below 0.
struct AttentionScales {
  const float* data = nullptr;  // device memory; null: 1
  std::int64_t head_stride = 0, batch_stride = 0;
};

// O = P V, where P is the softmax of scale * Q K^T over the keys that each query sees, for every batch and
// head. Accumulation and softmax in f32.
//
// Batches of variable lengths: with query_offsets, rows query_offsets[b] .. query_offsets[b + 1] - 1 of q and
// o are the queries of batch b, and the batch strides of q and o do not count; `queries` is the most of a
// batch. Likewise key_offsets for k and v. key_lengths instead says how many of the `keys` keys of each batch
// are in use, paged or not; rows behind them are not read. The log-sum-exp keeps its shape; of rows that a
// batch does not have it is not written.
struct AttentionProblem {
  std::int64_t batch = 0, heads = 0, key_heads = 0;  // heads is a multiple of key_heads (grouped heads)
  std::int64_t queries = 0, keys = 0;                // of each batch; the most of a batch
  int head_dimension = 0;                            // of Q and K
  int value_dimension = 0;                           // of V and O
  Type type = Type::f16;                             // of Q, K, V: f16, bf16, e4m3; but for e4m3, of O
  Type output_type = Type::bf16;                     // of O where type is e4m3: f16 or bf16
  AttentionTensor<const void*> q, k, v;              // k and v have key_heads heads
  AttentionTensor<void*> o;
  // Device memory: batch x heads x queries, contiguous; natural logarithm. Null: not written.
  float* log_sum_exp = nullptr;
  float scale = 0;                               // usually 1 / sqrt(head_dimension); 0: Q and K do not count
  AttentionScales q_scales, k_scales, v_scales;  // where type is e4m3
  AttentionWindow window;
  float soft_cap = 0;  // s becomes soft_cap * tanh(s / soft_cap) after scaling; 0: no cap
  // Device memory, one of each head: s += slope * (key - position of the query), behind the cap. Null: none.
  const float* alibi_slopes = nullptr;
  // Device memory, one of each head: a score, as it is behind scale and cap, that joins the softmax and its
  // log-sum-exp, without a value. Null: none.
  const float* sinks = nullptr;

  // Device memory; each may be null.
  const std::int32_t* query_offsets = nullptr;  // batch + 1, not decreasing, from 0 to query_rows
  const std::int32_t* key_offsets = nullptr;    // likewise to key_rows; not with key_lengths or pages
  const std::int32_t* key_lengths = nullptr;    // batch, from 0 to keys
  std::int64_t query_rows = 0;                  // with query_offsets: rows of q and o, of all batches
  std::int64_t key_rows = 0;                    // with key_offsets: rows of k and v, of all batches
  AttentionPages pages;
  // A word of device memory, may be null. A kernel sets it to 1 where it finds offsets, lengths or entries of
  // the page table out of range; the caller clears it. It treats such lengths as 0, and the keys of such a
  // page as not there.
  std::int32_t* error = nullptr;
  // Device memory of at least workspace_size() bytes (attention.hpp), 256-byte aligned. May be null: then few
  // queries over many keys leave multiprocessors idle.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

// How many batches and rows a tensor has in memory: what its batch and row strides step over.
struct AttentionExtents {
  std::int64_t batch, rows;
};
inline AttentionExtents query_extents(const AttentionProblem& p) noexcept {
  return p.query_offsets != nullptr ? AttentionExtents{1, p.query_rows}
                                    : AttentionExtents{p.batch, p.queries};
}
// Paged keys: pages, and rows of a page.
inline AttentionExtents key_extents(const AttentionProblem& p) noexcept {
  if (p.keys == 0) return {p.batch, 0};
  if (p.pages.table != nullptr) return {p.pages.count, p.pages.page_size};
  return p.key_offsets != nullptr ? AttentionExtents{1, p.key_rows} : AttentionExtents{p.batch, p.keys};
}

// Whether lengths or places of queries and keys lie in device memory.
inline bool has_variable_lengths(const AttentionProblem& p) noexcept {
  return p.query_offsets != nullptr || p.key_offsets != nullptr || p.key_lengths != nullptr ||
         p.pages.table != nullptr;
}

// The type of O.
constexpr Type type_of_output(const AttentionProblem& p) noexcept {
  return p.type == Type::e4m3 ? p.output_type : p.type;
}

}  // namespace tenon
