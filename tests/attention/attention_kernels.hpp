// The kernels of attention that the tests execute, as types: attention_kernels.cu has an entry of each.
#pragma once

#include "tenon/attention/launch_sm90.hpp"

namespace tenon::testing {

// Small tiles, so that short sequences have several of them.
template <class T, int head, int value, class Mask, class Score = PlainScore>
using SmallKernel =
    sm90::AttentionKernel<AttentionConfig<T, head, value, AttentionSchedule<TileShape<128, 32, 0>, 1, 2>>,
                          Mask, Score>;

// A score function that the library does not have: a query sees keys an even number of positions away.
struct EvenDistance {
  static constexpr bool changes_scores = true;
  float scale;
  __device__ EvenDistance of_head(int) const { return *this; }
  __device__ float operator()(float score, int position, int key) const {
    return (position - key) % 2 == 0 ? score : -__int_as_float(0x7f800000);
  }
  __device__ float log2_factor() const { return scale * log2_of_e; }
};

using FullF16 = SmallKernel<__half, 128, 128, FullMask>;
using CausalBf16 = sm90::AttentionKernel<sm90::AttentionConfigFor<__nv_bfloat16, 128, CausalMask, PlainScore>,
                                         CausalMask, PlainScore>;
using LocalF16 = SmallKernel<__half, 32, 32, LocalMask>;
using EvenF16 = SmallKernel<__half, 96, 64, CausalMask, EvenDistance>;

}  // namespace tenon::testing
