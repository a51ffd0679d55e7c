// Merges the splits of the keys, of decode and of the mma.sync kernel: each row is the mean of what the
// splits have for it, weighed by their sums. The grid may begin while the one before ends, and waits for it.
// Below: arguments_decode.hpp, pipeline/grid_dependency.hpp.
#pragma once

#include "tenon/ptx/needs_sm_80.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/attention/arguments_decode.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/fragment/pack.hpp"
#include "tenon/pipeline/grid_dependency.hpp"

namespace tenon {

// One warp a row and 128 columns of it: blockIdx.x counts heads of all batches times queries, blockIdx.y
// columns. Launch with 32 threads.
template <class T>
__global__ void __launch_bounds__(32)
    attention_decode_combine(const __grid_constant__ AttentionDecodeArguments a, int value_dimension) {
  constexpr int ahead = 16;  // splits whose O is on its way at a time
  let_next_grid_begin();
  const int lane = static_cast<int>(threadIdx.x), place = static_cast<int>(blockIdx.x);
  const int of_batches = place / a.queries, batch = of_batches / a.heads;
  const DecodeRow row{place - of_batches * a.queries, of_batches - batch * a.heads};
  const int column = static_cast<int>(blockIdx.y) * 128 + lane * 4;
  wait_for_previous_grid();
  const DecodeSequence sequence = sequence_of(a, batch);
  if (row.query >= sequence.queries) return;
  const std::int64_t first = static_cast<std::int64_t>(place) * a.splits;
  const float* const logs = a.split_log2_sums + first;

  const bool inside = column < value_dimension;
  const float* const from = a.split_o + first * value_dimension + (inside ? column : 0);
  float4 of_splits[ahead];
  const auto load = [&](int begin) {
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      if (begin + i < a.splits)
        of_splits[i] = *reinterpret_cast<const float4*>(from + (begin + i) * value_dimension);
    }
  };
  load(0);

  const float sink = a.sinks != nullptr ? a.sinks[row.head] * log2_of_e : -float_infinity;
  float most = sink;
  for (int split = lane; split < a.splits; split += 32) most = fmaxf(most, logs[split]);
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, lanes));

  const bool sees = most != -float_infinity;
  float sum = sees ? ptx::ex2_approx_ftz_f32(sink - most) : 0;
  float4 o = make_float4(0, 0, 0, 0);
  for (int begin = 0; begin < a.splits; begin += ahead) {
    if (begin > 0) load(begin);
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      if (begin + i >= a.splits) break;
      const float4 x = of_splits[i];
      const float weight = sees ? ptx::ex2_approx_ftz_f32(logs[begin + i] - most) : 0;
      sum += weight;
      o.x = fmaf(weight, x.x, o.x), o.y = fmaf(weight, x.y, o.y);
      o.z = fmaf(weight, x.z, o.z), o.w = fmaf(weight, x.w, o.w);
    }
  }
  const float inverse = sum == 0 ? 0 : 1 / sum;
  if (inside) {
    T* const to = static_cast<T*>(a.o.data) + batch * a.o.batch_stride +
                  (sequence.first_query + row.query) * a.o.row_stride + row.head * a.o.head_stride + column;
    const uint2 words = make_uint2(Packing<T>::pack({o.x * inverse, o.y * inverse}),
                                   Packing<T>::pack({o.z * inverse, o.w * inverse}));
    if (reinterpret_cast<std::uintptr_t>(to) % sizeof words == 0) {
      *reinterpret_cast<uint2*>(to) = words;
    } else {  // the mma.sync kernel takes any strides
      auto* const halves = reinterpret_cast<std::uint16_t*>(to);
      halves[0] = static_cast<std::uint16_t>(words.x), halves[1] = static_cast<std::uint16_t>(words.x >> 16);
      halves[2] = static_cast<std::uint16_t>(words.y), halves[3] = static_cast<std::uint16_t>(words.y >> 16);
    }
  }
  if (column == 0 && a.log_sum_exp != nullptr)
    a.log_sum_exp[place] = sees ? (most + log2f(sum)) * ln_of_2 : -float_infinity;
}

}  // namespace tenon
