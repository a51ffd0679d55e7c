// What is prepared for each query before the backward kernels of attention, eight lanes a row. Below:
// arguments_backward.hpp.
#pragma once

#include "tenon/ptx/needs_sm_80.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/attention/arguments_backward.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/fragment/pack.hpp"
#include "tenon/ptx/griddepcontrol.hpp"

namespace tenon {

inline constexpr int backward_row_threads = 256, backward_rows_per_cta = backward_row_threads / 8;

// A padded row: the head of all batches, and where it lies in the tensors.
struct BackwardRow {
  std::int64_t index;
  int query, head, batch;
  __device__ __forceinline__ explicit BackwardRow(const AttentionBackwardArguments& a)
      : index(static_cast<std::int64_t>(blockIdx.x) * backward_rows_per_cta + threadIdx.x / 8) {
    const int tiles = a.padded_queries / backward_rows_per_cta;
    const int all_head = a.by_padded_tiles.quotient(static_cast<int>(blockIdx.x));
    query = (static_cast<int>(blockIdx.x) - all_head * tiles) * backward_rows_per_cta +
            static_cast<int>(threadIdx.x) / 8;
    batch = a.by_heads.quotient(all_head);
    head = all_head - batch * a.heads;
  }
  template <class T, class Pointer>
  __device__ __forceinline__ T* in(const AttentionTensor<Pointer>& x) const {
    return static_cast<T*>(x.data) + (batch * x.batch_stride + head * x.head_stride + query * x.row_stride);
  }
};

template <class T>
__device__ __forceinline__ float product_of_pair(std::uint32_t a, std::uint32_t b) {
  float x[2], y[2];
  Packing<T>::unpack(a, x);
  Packing<T>::unpack(b, y);
  return fmaf(x[1], y[1], x[0] * y[0]);
}

// The sum of dO * O of each row and the base-2 log-sum-exp; clears dQ in f32 and its counters, if there are
// any. The next grid may start at once: it waits for this one itself, or is launched without overlap.
template <class T>
__global__ void __launch_bounds__(backward_row_threads)
    attention_backward_prepare(const __grid_constant__ AttentionBackwardArguments a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  ptx::griddepcontrol_launch_dependents();
#endif
  const BackwardRow row(a);
  const int lane = static_cast<int>(threadIdx.x) % 8;
  float sum = 0;
  if (row.query < a.queries) {
    const auto* const o = row.in<const T>(a.o);
    const auto* const d_o = row.in<const T>(a.d_o);
    const bool chunks =
        (reinterpret_cast<std::uintptr_t>(o) | reinterpret_cast<std::uintptr_t>(d_o)) % 16 == 0;
    if (chunks) {
      for (int i = 8 * lane; i < a.value_dimension; i += 64) {
        const uint4 x = *reinterpret_cast<const uint4*>(o + i), y = *reinterpret_cast<const uint4*>(d_o + i);
        sum += product_of_pair<T>(x.x, y.x) + product_of_pair<T>(x.y, y.y) + product_of_pair<T>(x.z, y.z) +
               product_of_pair<T>(x.w, y.w);
      }
    } else {
      for (int i = lane; i < a.value_dimension; i += 8)
        sum = fmaf(static_cast<float>(o[i]), static_cast<float>(d_o[i]), sum);
    }
  }
#pragma unroll
  for (int distance = 1; distance < 8; distance *= 2) sum += __shfl_xor_sync(0xffffffffU, sum, distance);
  if (a.dq_sums.sums != nullptr) {
    const std::int64_t thread = 8 * row.index + lane;
    if (thread < a.dq_sums.counters) a.dq_sums.finished[thread] = 0;
    if (row.index < static_cast<std::int64_t>(a.dq_sums.slots) * a.padded_queries) {
      float* const to = a.dq_sums.sums + row.index * a.head_dimension;
      for (int i = 4 * lane; i < a.head_dimension; i += 32)
        *reinterpret_cast<float4*>(to + i) = make_float4(0, 0, 0, 0);
    }
  }
  if (lane != 0) return;
  float log2_sum = float_infinity;
  if (row.query < a.queries) {
    const std::int64_t at =
        (static_cast<std::int64_t>(row.batch) * a.heads + row.head) * a.queries + row.query;
    const float found = a.log_sum_exp[at];
    if (found != -float_infinity) log2_sum = found * log2_of_e;
  }
  a.log2_sums[row.index] = log2_sum;
  a.deltas[row.index] = sum;
}

}  // namespace tenon
