// What the reference kernels of attention share: access to rows, and what happens to a score.
#pragma once

#include "reference/matrix.cuh"
#include "tenon/attention/problem.hpp"

namespace tenon::reference {

// The first element of a row of Q, K, V or O.
template <class T, class Pointer>
__device__ T* row_of(const AttentionTensor<Pointer>& tensor, std::int64_t batch, std::int64_t head,
                     std::int64_t row) {
  return static_cast<T*>(tensor.data) + batch * tensor.batch_stride + head * tensor.head_stride +
         row * tensor.row_stride;
}

// The keys first .. end that a query sees.
struct VisibleKeys {
  std::int64_t first, end;

  __device__ VisibleKeys(const AttentionProblem& p, std::int64_t query) : first(0), end(p.keys) {
    const std::int64_t position = query + p.keys - p.queries;
    if (p.window.left >= 0) first = max(first, position - p.window.left);
    if (p.window.right >= 0) end = min(end, position + p.window.right + 1);
  }
  __device__ bool contain(std::int64_t key) const { return key >= first && key < end; }
};

// A score from the dot product of a query and a key.
__device__ inline float score_of(const AttentionProblem& p, float dot, std::int64_t head, std::int64_t query,
                                 std::int64_t key) {
  float score = dot * p.scale;
  if (p.soft_cap > 0) score = p.soft_cap * tanhf(score / p.soft_cap);
  if (p.alibi_slopes != nullptr)
    score += p.alibi_slopes[head] * static_cast<float>(key - (query + p.keys - p.queries));
  return score;
}

// The maximum of a row so far and the sum of exp(score - maximum): the online softmax.
struct OnlineSoftmax {
  float maximum = -INFINITY, sum = 0;

  // Takes in scores whose maximum is `most`, which must be followed by add() of each. Returns by what former
  // results of the row are multiplied.
  __device__ float raise(float most) {
    const float raised = fmaxf(maximum, most);
    const float scale = raised == -INFINITY ? 1.0F : expf(maximum - raised);
    maximum = raised;
    sum *= scale;
    return scale;
  }
  // The weight of a score.
  __device__ float weight(float score) const { return score == -INFINITY ? 0.0F : expf(score - maximum); }
  // What the row is multiplied by at the end, and its log-sum-exp: 0 and -infinity where it saw no key.
  __device__ float inverse() const { return sum == 0 ? 0.0F : 1.0F / sum; }
  __device__ float log_sum_exp() const { return sum == 0 ? -INFINITY : maximum + logf(sum); }
};

__device__ inline void store_log_sum_exp(const AttentionProblem& p, std::int64_t batch, std::int64_t head,
                                         std::int64_t query, float value) {
  if (p.log_sum_exp != nullptr) p.log_sum_exp[(batch * p.heads + head) * p.queries + query] = value;
}

}  // namespace tenon::reference
