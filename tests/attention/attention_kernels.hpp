// The kernels of attention that the tests execute, as types: attention_kernels.cu has an entry of each.
#pragma once

#include "tenon/attention/launch_sm90.hpp"

namespace tenon::testing {

// Small tiles, so that short sequences have several of them.
template <class T, int head, int value, class Mask, class Score = PlainScore>
using SmallKernel =
    sm90::AttentionKernel<AttentionConfig<T, head, value, AttentionSchedule<TileShape<128, 32, 0>, 1, 2>>,
                          Mask, Score>;

// As the library has them.
template <class T, int head, class Mask, class Score = PlainScore>
using LibraryKernel = sm90::AttentionKernel<sm90::AttentionConfigFor<T, head, Mask, Score>, Mask, Score>;

using FullF16 = SmallKernel<__half, 128, 128, FullMask>;
using CausalBf16 = LibraryKernel<__nv_bfloat16, 128, CausalMask>;
using LocalF16 = SmallKernel<__half, 32, 32, LocalMask>;
using SoftCapF16 = SmallKernel<__half, 96, 64, CausalMask, GeneralScore>;
using AlibiBf16 = LibraryKernel<__nv_bfloat16, 64, CausalMask, GeneralScore>;

}  // namespace tenon::testing
