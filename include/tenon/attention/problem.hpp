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

// O = P V, where P is the softmax of scale * Q K^T over the keys that each query sees, for every batch and
// head. Accumulation and softmax in f32.
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
};

}  // namespace tenon
