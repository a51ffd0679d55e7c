// See attention_cpu.hpp. The threads take heads of queries one at a time.
#include "reference/attention_cpu.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "reference/cpu.hpp"

namespace tenon::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The rows of one head of Q, K or V as dense floats.
std::vector<float> head_of(const AttentionTensor<const void*>& tensor, Type type, std::int64_t batch,
                           std::int64_t head, std::int64_t rows, int columns) {
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  const auto* const data = static_cast<const std::uint16_t*>(tensor.data);
  for (std::int64_t row = 0; row < rows; ++row) {
    decode(type, data + batch * tensor.batch_stride + head * tensor.head_stride + row * tensor.row_stride,
           static_cast<std::size_t>(columns), values.data() + row * columns);
  }
  return values;
}

void attend(const AttentionProblem& p, std::int64_t batch, std::int64_t head, HostAttention& result) {
  const std::int64_t key_head = head / (p.heads / p.key_heads);
  const std::vector<float> q = head_of(p.q, p.type, batch, head, p.queries, p.head_dimension);
  const std::vector<float> k = head_of(p.k, p.type, batch, key_head, p.keys, p.head_dimension);
  const std::vector<float> v = head_of(p.v, p.type, batch, key_head, p.keys, p.value_dimension);
  std::vector<double> scores(static_cast<std::size_t>(p.keys)),
      sums(static_cast<std::size_t>(p.value_dimension));
  for (std::int64_t query = 0; query < p.queries; ++query) {
    const std::int64_t position = query + p.keys - p.queries;
    const std::int64_t first = p.window.left < 0 ? 0 : std::max<std::int64_t>(0, position - p.window.left);
    const std::int64_t end = p.window.right < 0 ? p.keys : std::min(p.keys, position + p.window.right + 1);
    double most = -infinity;
    for (std::int64_t key = first; key < end; ++key) {
      double score = 0;
      for (int e = 0; e < p.head_dimension; ++e)
        score += double{q[query * p.head_dimension + e]} * k[key * p.head_dimension + e];
      score *= p.scale;
      if (p.soft_cap > 0) score = p.soft_cap * std::tanh(score / p.soft_cap);
      if (p.alibi_slopes != nullptr) score += p.alibi_slopes[head] * static_cast<double>(key - position);
      scores[key] = score;
      most = std::max(most, score);
    }
    double sum = 0;
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t key = first; key < end; ++key) {
      const double weight = std::exp(scores[key] - most);
      sum += weight;
      for (int e = 0; e < p.value_dimension; ++e) sums[e] += weight * v[key * p.value_dimension + e];
    }
    for (int e = 0; e < p.value_dimension; ++e) {
      result.value[((batch * p.queries + query) * p.heads + head) * p.value_dimension + e] =
          first < end ? sums[e] / sum : 0;
    }
    result.log_sum_exp[(batch * p.heads + head) * p.queries + query] =
        first < end ? most + std::log(sum) : -infinity;
  }
}

}  // namespace

HostAttention attention(const AttentionProblem& problem) {
  HostAttention result;
  const std::int64_t heads = problem.batch * problem.heads;
  result.log_sum_exp.resize(static_cast<std::size_t>(heads * problem.queries));
  result.value.resize(result.log_sum_exp.size() * static_cast<std::size_t>(problem.value_dimension));
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t i = next++; i < heads; i = next++)
      attend(problem, i / problem.heads, i % problem.heads, result);
  };
  std::vector<std::thread> threads;
  const std::int64_t helpers =
      std::min<std::int64_t>(heads, std::max(1U, std::thread::hardware_concurrency())) - 1;
  for (std::int64_t i = 0; i < helpers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return result;
}

}  // namespace tenon::reference
