// See attention_backward_cpu.hpp. The threads take heads of keys one at a time, with all heads of queries
// that share one, so that no two threads add to the same gradient.
#include "reference/attention_backward_cpu.hpp"

#include <algorithm>
#include <cmath>

#include "reference/cpu.hpp"
#include "reference/in_threads.hpp"

namespace tenon::reference {
namespace {

// One head of a tensor as dense rows of floats.
struct Head {
  std::vector<float> values;
  int columns;

  Head(const AttentionTensor<const void*>& tensor, Type type, std::int64_t batch, std::int64_t head,
       std::int64_t rows, int columns_)
      : values(static_cast<std::size_t>(rows * columns_)), columns(columns_) {
    const auto* const data = static_cast<const std::uint16_t*>(tensor.data);
    for (std::int64_t row = 0; row < rows; ++row) {
      decode(type, data + batch * tensor.batch_stride + head * tensor.head_stride + row * tensor.row_stride,
             static_cast<std::size_t>(columns), values.data() + row * columns);
    }
  }
  const float* row(std::int64_t i) const { return values.data() + i * columns; }
};

double dot(const float* a, const float* b, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += double{a[i]} * b[i];
  return sum;
}
void add(double* to, double factor, const float* from, int count) {
  for (int i = 0; i < count; ++i) to[i] += factor * from[i];
}

// The keys that a query sees, with the derivative of each score by the product of its rows.
struct Weights {
  std::int64_t first, end;
  std::vector<double> p, slope;
};
Weights weights(const AttentionProblem& p, std::int64_t head, std::int64_t query, const Head& q,
                const Head& k) {
  const std::int64_t position = query + p.keys - p.queries;
  Weights w;
  w.first = p.window.left < 0 ? 0 : std::max<std::int64_t>(0, position - p.window.left);
  w.end = p.window.right < 0 ? p.keys : std::min(p.keys, position + p.window.right + 1);
  double most = -HUGE_VAL, sum = 0;
  for (std::int64_t key = w.first; key < w.end; ++key) {
    double score = dot(q.row(query), k.row(key), p.head_dimension) * p.scale, slope = p.scale;
    if (p.soft_cap > 0) {
      const double t = std::tanh(score / p.soft_cap);
      score = p.soft_cap * t;
      slope *= 1 - t * t;
    }
    if (p.alibi_slopes != nullptr) score += p.alibi_slopes[head] * static_cast<double>(key - position);
    w.p.push_back(score);
    w.slope.push_back(slope);
    most = std::max(most, score);
  }
  for (double& x : w.p) sum += x = std::exp(x - most);
  for (double& x : w.p) x /= sum;
  return w;
}

void differentiate(const AttentionBackwardProblem& problem, std::int64_t batch, std::int64_t key_head,
                   HostAttentionGradients& to) {
  const AttentionProblem& p = problem.forward;
  const int depth = p.head_dimension, width = p.value_dimension;
  const Head k(p.k, p.type, batch, key_head, p.keys, depth), v(p.v, p.type, batch, key_head, p.keys, width);
  const std::int64_t group = p.heads / p.key_heads;
  for (std::int64_t head = key_head * group; head < (key_head + 1) * group; ++head) {
    const Head q(p.q, p.type, batch, head, p.queries, depth);
    const Head d_o(problem.d_o, p.type, batch, head, p.queries, width);
    for (std::int64_t query = 0; query < p.queries; ++query) {
      const Weights w = weights(p, head, query, q, k);
      std::vector<double> dp(w.p.size());
      double delta = 0;  // of dO and O, whose row is the sum of P V
      for (std::size_t i = 0; i < dp.size(); ++i) {
        dp[i] = dot(d_o.row(query), v.row(w.first + static_cast<std::int64_t>(i)), width);
        delta += w.p[i] * dp[i];
      }
      for (std::size_t i = 0; i < dp.size(); ++i) {
        const std::int64_t key = w.first + static_cast<std::int64_t>(i);
        const double ds = w.p[i] * (dp[i] - delta) * w.slope[i];
        const std::int64_t of_key = (batch * p.keys + key) * p.key_heads + key_head;
        add(to.dq.data() + ((batch * p.queries + query) * p.heads + head) * depth, ds, k.row(key), depth);
        add(to.dk.data() + of_key * depth, ds, q.row(query), depth);
        add(to.dv.data() + of_key * width, w.p[i], d_o.row(query), width);
      }
    }
  }
}

}  // namespace

HostAttentionGradients attention_backward(const AttentionBackwardProblem& problem) {
  const AttentionProblem& p = problem.forward;
  HostAttentionGradients result;
  const auto cells = [](std::int64_t rows, int columns) { return static_cast<std::size_t>(rows * columns); };
  result.dq.resize(cells(p.batch * p.queries * p.heads, p.head_dimension));
  result.dk.resize(cells(p.batch * p.keys * p.key_heads, p.head_dimension));
  result.dv.resize(cells(p.batch * p.keys * p.key_heads, p.value_dimension));
  const std::int64_t heads = p.batch * p.key_heads;
  in_threads(heads,
             [&](std::int64_t i) { differentiate(problem, i / p.key_heads, i % p.key_heads, result); });
  return result;
}

}  // namespace tenon::reference
