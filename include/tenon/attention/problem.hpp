// The problem of attention. Plain C++17. Below: gemm/types.hpp.
#pragma once

#include <cstdint>

#include "tenon/gemm/types.hpp"

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
  std::int64_t count = 0;               // pages of the pool. An entry outside reads nothing (see error)
};

// O = P V, where P is the softmax of scale * Q K^T over the keys that each query sees, for every batch and
// head. Accumulation and softmax in f32.
//
// Batches of variable lengths: with query_offsets, rows query_offsets[b] .. query_offsets[b + 1] - 1 of q and
// o are the queries of batch b, and the batch strides of q and o do not count; `queries` is the most of a
// batch. Likewise key_offsets for k and v. key_lengths instead says how many of the `keys` rows of each batch
// are in use. The log-sum-exp keeps its shape; of rows that a batch does not have it is not written.
struct AttentionProblem {
  std::int64_t batch = 0, heads = 0, key_heads = 0;  // heads is a multiple of key_heads (grouped heads)
  std::int64_t queries = 0, keys = 0;                // of each batch
  int head_dimension = 0;                            // of Q and K
  int value_dimension = 0;                           // of V and O
  Type type = Type::f16;                             // of Q, K, V and O: f16 or bf16
  AttentionTensor<const void*> q, k, v;              // k and v have key_heads heads
  AttentionTensor<void*> o;
  float* log_sum_exp = nullptr;  // batch x heads x queries, contiguous; natural logarithm; may be null
  float scale = 0;               // usually 1 / sqrt(head_dimension)
  AttentionWindow window;
  float soft_cap = 0;                   // s becomes soft_cap * tanh(s / soft_cap) after scaling; 0: no cap
  const float* alibi_slopes = nullptr;  // one of each head: s += slope * (key - position of the query)
  const float* sinks = nullptr;         // one of each head: a score that joins the softmax, without a value

  // Device memory; each may be null.
  const std::int32_t* query_offsets = nullptr;  // batch + 1, not decreasing, from 0 to query_rows
  const std::int32_t* key_offsets =
      nullptr;  // batch + 1, likewise to key_rows; not with key_lengths or pages
  const std::int32_t* key_lengths = nullptr;  // batch, from 0 to keys
  std::int64_t query_rows = 0, key_rows = 0;  // with offsets: rows of q and o, of k and v, of all batches
  AttentionPages pages;
  // A word of device memory, may be null. A kernel that finds offsets, lengths or pages out of range sets it
  // to 1, and treats the lengths as 0 and the keys of the page as not there.
  std::int32_t* error = nullptr;
};

}  // namespace tenon
