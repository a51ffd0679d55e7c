// The problems of tenon_attention_benchmark and of time_attention.py, by the names of their groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/gemm/types.hpp"

namespace tenon::microbench {

struct AttentionRow {
  Type type = Type::bf16;  // of Q, K and V; O is bf16
  std::int64_t batch, heads, key_heads, queries, keys;
  int head_dimension, value_dimension;
  bool causal = false;
  bool backward = false;
  bool latent = false;  // V is the first columns of K (MLA decode)
  bool cold = false;    // K and V rotate through more than twice the L2
  std::string prefix;   // of the kernel's name; empty: the library chooses

  // Products of a score and of an element of V; five of the backward pass where the forward pass has two. A
  // causal mask halves them.
  double flop() const;
  // Of K and V.
  std::int64_t key_bytes() const;
  std::string describe() const;  // "causal heads=16/16 d=128"
};

// forward, mma, e4m3, backward, decode, chunk, mla: in this order.
const std::vector<std::string>& attention_groups();

// The rows of a group, which must be one of these.
std::vector<AttentionRow> attention_rows(const std::string& group);

}  // namespace tenon::microbench
