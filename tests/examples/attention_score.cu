// Attention with your own score function on Ampere and newer: here ALiBi with the slopes of a power of two of
// heads, without a table.
#include <cuda_fp16.h>

#include "tenon/attention/launch_sm80.hpp"

struct Alibi {
  static constexpr bool changes_scores = true;
  float scale, heads, slope = 0;

  __device__ Alibi of_head(int head) const { return {scale, heads, exp2f(-8.0F * (head + 1) / heads)}; }
  __device__ float operator()(float dot, int position, int key) const {
    return scale * dot + slope * static_cast<float>(key - position);
  }
  __device__ float log2_factor() const { return tenon::log2_of_e; }
};
using Config = tenon::AttentionMmaConfig<half, 64, 64, 4, 2, 64, 32, 3, true, 2, tenon::Overlap::ahead>;
using Kernel = tenon::sm80::AttentionKernel<Config, Alibi>;

// q, k, v, o: n x heads x 64, dense in device memory.
tenon::Status causal_alibi(int n, int heads, const half* q, const half* k, const half* v, half* o,
                           cudaStream_t stream) {
  tenon::AttentionProblem problem;
  problem.batch = 1, problem.heads = problem.key_heads = heads, problem.queries = problem.keys = n;
  problem.head_dimension = problem.value_dimension = 64, problem.window = {-1, 0};
  problem.q = {q, heads * 64, 64}, problem.k = {k, heads * 64, 64}, problem.v = {v, heads * 64, 64};
  problem.o = {o, heads * 64, 64};
  return tenon::launch_attention<Kernel>(problem, Alibi{0.125F, static_cast<float>(heads)}, stream);
}
