// See attention_gradients.hpp.
#include <cuda_bf16.h>

#include "microbench/attention_gradients.hpp"
#include "microbench/cuda_check.hpp"
#include "reference/attention.cuh"
#include "reference/launch.cuh"

namespace tenon::microbench {
namespace {

constexpr int warps = 4, per_lane = 4, largest = 32 * per_lane;
using T = __nv_bfloat16;

// Element lane + 32 i of a row; zeros beyond its length.
struct Row {
  float at[per_lane];

  __device__ void load(const T* row, int length) {
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
      const int e = static_cast<int>(threadIdx.x) + 32 * i;
      at[i] = e < length ? __bfloat162float(row[e]) : 0.0F;
    }
  }
  __device__ void store(float* row, int length, float factor) const {
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
      const int e = static_cast<int>(threadIdx.x) + 32 * i;
      if (e < length) row[e] = factor * at[i];
    }
  }
  __device__ void add(float factor, const Row& x) {
#pragma unroll
    for (int i = 0; i < per_lane; ++i) at[i] = fmaf(factor, x.at[i], at[i]);
  }
};

__device__ float dot(const Row& x, const Row& y) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < per_lane; ++i) sum = fmaf(x.at[i], y.at[i], sum);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, distance);
  return sum;
}

// P and dS of a query and a key.
struct Weight {
  float p, ds;

  __device__ Weight(const Row& q, const Row& k, const Row& v, const Row& d_o, float scale, float log_sum_exp,
                    float delta)
      : p(expf(dot(q, k) * scale - log_sum_exp)), ds(p * (dot(d_o, v) - delta)) {}
};

__global__ void __launch_bounds__(32 * warps)
    query_gradient_kernel(AttentionBackwardProblem problem, Gradients gradients) {
  const AttentionProblem& p = problem.forward;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.y;
  if (index >= p.batch * p.heads * p.queries) return;
  const std::int64_t query = index % p.queries, head = index / p.queries % p.heads;
  const std::int64_t batch = index / p.queries / p.heads, key_head = head / (p.heads / p.key_heads);
  Row q, o, d_o, k, v, dq = {};
  q.load(reference::row_of<const T>(p.q, batch, head, query), p.head_dimension);
  o.load(reference::row_of<const T>(p.o, batch, head, query), p.value_dimension);
  d_o.load(reference::row_of<const T>(problem.d_o, batch, head, query), p.value_dimension);
  const float delta = dot(o, d_o), log_sum_exp = p.log_sum_exp[index];
  if (threadIdx.x == 0) gradients.delta[index] = delta;
  const reference::VisibleKeys visible(p, query);
  for (std::int64_t key = visible.first; key < visible.end; ++key) {
    k.load(reference::row_of<const T>(p.k, batch, key_head, key), p.head_dimension);
    v.load(reference::row_of<const T>(p.v, batch, key_head, key), p.value_dimension);
    dq.add(Weight(q, k, v, d_o, p.scale, log_sum_exp, delta).ds, k);
  }
  dq.store(gradients.dq + ((batch * p.queries + query) * p.heads + head) * p.head_dimension, p.head_dimension,
           p.scale);
}

__global__ void __launch_bounds__(32 * warps)
    key_gradient_kernel(AttentionBackwardProblem problem, Gradients gradients) {
  const AttentionProblem& p = problem.forward;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.y;
  if (index >= p.batch * p.key_heads * p.keys) return;
  const std::int64_t key = index % p.keys, key_head = index / p.keys % p.key_heads;
  const std::int64_t batch = index / p.keys / p.key_heads, group = p.heads / p.key_heads;
  Row q, d_o, k, v, dk = {}, dv = {};
  k.load(reference::row_of<const T>(p.k, batch, key_head, key), p.head_dimension);
  v.load(reference::row_of<const T>(p.v, batch, key_head, key), p.value_dimension);
  for (std::int64_t head = key_head * group; head < (key_head + 1) * group; ++head) {
    for (std::int64_t query = 0; query < p.queries; ++query) {
      if (!reference::VisibleKeys(p, query).contain(key)) continue;
      const std::int64_t row = (batch * p.heads + head) * p.queries + query;
      q.load(reference::row_of<const T>(p.q, batch, head, query), p.head_dimension);
      d_o.load(reference::row_of<const T>(problem.d_o, batch, head, query), p.value_dimension);
      const Weight weight(q, k, v, d_o, p.scale, p.log_sum_exp[row], gradients.delta[row]);
      dv.add(weight.p, d_o);
      dk.add(weight.ds, q);
    }
  }
  const std::int64_t row = (batch * p.keys + key) * p.key_heads + key_head;
  dk.store(gradients.dk + row * p.head_dimension, p.head_dimension, p.scale);
  dv.store(gradients.dv + row * p.value_dimension, p.value_dimension, 1);
}

}  // namespace

void compute_gradients(const AttentionBackwardProblem& problem, const Gradients& gradients,
                       cudaStream_t stream) {
  const AttentionProblem& p = problem.forward;
  if (p.type != Type::bf16 || p.head_dimension > largest || p.value_dimension > largest)
    throw Failure("the gradients are computed of bf16 and head dimensions of up to 128 only");
  const auto run = [&](auto* kernel, std::int64_t rows) {
    const Status s = reference::launch(kernel, reference::ceil_div(rows, warps), dim3(32, warps), stream,
                                       problem, gradients);
    if (!s) throw Failure(s.message());
  };
  run(query_gradient_kernel, p.batch * p.heads * p.queries);
  run(key_gradient_kernel, p.batch * p.key_heads * p.keys);
}

}  // namespace tenon::microbench
