// The kernels of attention that the tests execute, as types: attention_kernels.cu has an entry of each.
#pragma once

#include "tenon/attention/launch_sm90.hpp"

namespace tenon::testing {

// Small tiles, so that short sequences have several of them.
template <class T, int head, int value, class Mask, class Score = PlainScore>
using SmallKernel =
    sm90::AttentionKernel<AttentionConfig<T, head, value, AttentionSchedule<TileShape<128, 32, 0>, 1, 2>>,
                          Mask, Score>;

using FullF16 = SmallKernel<__half, 128, 128, FullMask>;
using CausalBf16 =
    sm90::AttentionKernel<sm90::AttentionConfigFor<__nv_bfloat16, 128, true>, CausalMask, PlainScore>;
using LocalF16 = SmallKernel<__half, 32, 32, LocalMask>;
using SoftCapF16 = SmallKernel<__half, 96, 64, CausalMask, GeneralScore>;
using AlibiBf16 =
    sm90::AttentionKernel<sm90::AttentionConfigFor<__nv_bfloat16, 64, true>, CausalMask, GeneralScore>;

}  // namespace tenon::testing
