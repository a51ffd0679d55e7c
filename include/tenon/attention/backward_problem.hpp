// The problem of the backward pass of attention. Plain C++17. Below: problem.hpp.
#pragma once

#include "tenon/attention/problem.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// The gradients of L by Q, K and V, from dO, that by O, where `forward` computed O:
//
//   P = exp(S - log-sum-exp)   dV = P^T dO   dP = dO V^T   dS = P * (dP - rowsum(dO * O))
//   dQ = scale * dS K          dK = scale * dS^T Q         (dS times 1 - tanh^2 with a soft cap)
//
// Heads that share a head of K and V add their gradients. A query that sees no key gets and gives gradients
// of 0. Accumulation in f32.
struct AttentionBackwardProblem {
  // As it was computed: o and log_sum_exp, which may not be null, are inputs now. Not taken: query_offsets,
  // key_offsets, key_lengths, pages, sinks.
  AttentionProblem forward;
  AttentionTensor<const void*> d_o;  // as o
  AttentionTensor<void*> dq;         // as q, but its elements may not overlap
  AttentionTensor<void*> dk, dv;     // as k and v, likewise: key_heads heads
  // Device memory on a multiple of 256 bytes, of at least workspace_size() bytes (attention_backward.hpp).
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  // The same bits in each run. Else the order in which CTAs add to dQ may differ.
  bool deterministic = false;
};

}  // namespace tenon
