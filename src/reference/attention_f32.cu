// The definition of attention, a warp for each query: it visits the keys one after the other, and its lanes
// hold the head dimension.
#include "reference/attention.cuh"
#include "reference/attention.hpp"
#include "reference/launch.cuh"

namespace tenon::reference {
namespace {

constexpr int warps = 4;
constexpr int most_per_lane = largest_scalar_head_dimension / 32;

template <class T>
__global__ void __launch_bounds__(32 * warps) attention_scalar_kernel(AttentionProblem p) {
  const std::int64_t rows = p.batch * p.heads * p.queries;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.y;
  if (index >= rows) return;
  const std::int64_t query = index % p.queries, head = index / p.queries % p.heads;
  const std::int64_t batch = index / p.queries / p.heads, key_head = head / (p.heads / p.key_heads);
  const int lane = static_cast<int>(threadIdx.x);

  // Element lane + 32 i of a row; zeros beyond the head dimension.
  float q[most_per_lane], o[most_per_lane] = {};
  const T* const q_row = row_of<const T>(p.q, batch, head, query);
#pragma unroll
  for (int i = 0; i < most_per_lane; ++i) {
    const int e = lane + 32 * i;
    q[i] = e < p.head_dimension ? to_float(q_row[e]) : 0.0F;
  }

  OnlineSoftmax softmax;
  const VisibleKeys visible(p, query);
  for (std::int64_t key = visible.first; key < visible.end; ++key) {
    const T* const k = row_of<const T>(p.k, batch, key_head, key);
    const T* const v = row_of<const T>(p.v, batch, key_head, key);
    float dot = 0;
#pragma unroll
    for (int i = 0; i < most_per_lane; ++i) {
      const int e = lane + 32 * i;
      if (e < p.head_dimension) dot = fmaf(q[i], to_float(k[e]), dot);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) dot += __shfl_xor_sync(0xffffffffU, dot, distance);
    const float score = score_of(p, dot, head, query, key);
    const float scale = softmax.raise(score), weight = softmax.weight(score);
    softmax.sum += weight;
#pragma unroll
    for (int i = 0; i < most_per_lane; ++i) {
      const int e = lane + 32 * i;
      if (e < p.value_dimension) o[i] = fmaf(weight, to_float(v[e]), o[i] * scale);
    }
  }

  T* const o_row = row_of<T>(p.o, batch, head, query);
#pragma unroll
  for (int i = 0; i < most_per_lane; ++i) {
    const int e = lane + 32 * i;
    if (e < p.value_dimension) round_to(o_row[e], o[i] * softmax.inverse());
  }
  if (lane == 0) store_log_sum_exp(p, batch, head, query, softmax.log_sum_exp());
}

}  // namespace

Status launch_attention_scalar_f32(const AttentionProblem& p, CUstream_st* stream) noexcept {
  const std::int64_t blocks = ceil_div(p.batch * p.heads * p.queries, warps);
  const dim3 threads(32, warps);
  return p.type == Type::f16 ? launch(attention_scalar_kernel<__half>, blocks, threads, stream, p)
                             : launch(attention_scalar_kernel<__nv_bfloat16>, blocks, threads, stream, p);
}

}  // namespace tenon::reference
