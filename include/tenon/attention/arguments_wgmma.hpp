// What the kernels of attention are called with, beside tensor maps, mask and score operation. Plain C++17.
#pragma once

#include "tenon/attention/persistent_scheduler.hpp"
#include "tenon/attention/problem.hpp"

namespace tenon {

struct AttentionWgmmaArguments {
  PersistentOrder order;
  Divisor by_heads;  // heads of a batch
  Divisor by_group;  // heads that share a head of K and V
  int heads, queries;
  AttentionTensor<void*> o;
  float* log_sum_exp;  // may be null
  const float* sinks;  // of the heads; may be null
  // Of kernels of e4m3:
  AttentionScales q_scales, k_scales, v_scales;
  bool output_is_f16;  // else bf16
};

// A head of all batches: its batch, its number there, and the head of K and V that it reads.
struct HeadPosition {
  int batch, head, key_head;
};
TENON_HOST_DEVICE inline HeadPosition head_position(const AttentionWgmmaArguments& p, int head) {
  const int batch = p.by_heads.quotient(head), in_batch = head - batch * p.heads;
  return {batch, in_batch, p.by_group.quotient(in_batch)};
}

}  // namespace tenon
