// See attention_cpu.hpp. The threads take heads of queries one at a time.
#include "reference/attention_cpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/cpu.hpp"
#include "reference/in_threads.hpp"

namespace tenon::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// Rows of a batch: where they begin, beside the batch's stride, and how many they are.
struct Rows {
  std::int64_t first, count;
};
Rows rows_from_offsets(const std::int32_t* offsets, std::int64_t batch, std::int64_t all, std::int64_t most) {
  const std::int64_t first = offsets[batch], end = offsets[batch + 1];
  return first < 0 || end < first || end > all || end - first > most ? Rows{0, 0} : Rows{first, end - first};
}
Rows queries_of(const AttentionProblem& p, std::int64_t batch) {
  return p.query_offsets != nullptr ? rows_from_offsets(p.query_offsets, batch, p.query_rows, p.queries)
                                    : Rows{0, p.queries};
}
Rows keys_of(const AttentionProblem& p, std::int64_t batch) {
  if (p.key_offsets != nullptr) return rows_from_offsets(p.key_offsets, batch, p.key_rows, p.keys);
  if (p.key_lengths == nullptr) return {0, p.keys};
  const std::int64_t length = p.key_lengths[batch];
  return {0, length < 0 || length > p.keys ? 0 : length};
}
// The row of a key from the first element of the tensor on; negative: its page is not there.
std::int64_t offset_of_key(const AttentionProblem& p, const AttentionTensor<const void*>& tensor,
                           std::int64_t batch, Rows rows, std::int64_t key) {
  if (p.pages.table == nullptr)
    return (p.key_offsets != nullptr ? 0 : batch * tensor.batch_stride) +
           (rows.first + key) * tensor.row_stride;
  const std::int64_t page = p.pages.table[batch * p.pages.table_stride + key / p.pages.page_size];
  if (page < 0 || page >= p.pages.count) return -1;
  return page * tensor.batch_stride + key % p.pages.page_size * tensor.row_stride;
}

// The rows of one head of Q, K or V as dense floats. offset(row): from the tensor's first element to the row
// of head 0; negative: it becomes zeros.
template <class Offset>
std::vector<float> head_of(const AttentionTensor<const void*>& tensor, Type type, std::int64_t head,
                           std::int64_t rows, int columns, const Offset& offset) {
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  const auto* const data = static_cast<const std::uint8_t*>(tensor.data);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = offset(row);
    if (at < 0) continue;
    decode(type, data + (at + head * tensor.head_stride) * static_cast<std::int64_t>(bytes(type)),
           static_cast<std::size_t>(columns), values.data() + row * columns);
  }
  return values;
}

double scale_of(const AttentionScales& scales, std::int64_t batch, std::int64_t key_head) {
  return scales.data == nullptr
             ? 1
             : double{scales.data[batch * scales.batch_stride + key_head * scales.head_stride]};
}

void attend(const AttentionProblem& p, std::int64_t batch, std::int64_t head, HostAttention& result) {
  const std::int64_t key_head = head / (p.heads / p.key_heads);
  const Rows queries = queries_of(p, batch), keys = keys_of(p, batch);
  const auto offset = [&](const AttentionTensor<const void*>& tensor) {
    return [&](std::int64_t key) { return offset_of_key(p, tensor, batch, keys, key); };
  };
  const std::vector<float> q =
      head_of(p.q, p.type, head, queries.count, p.head_dimension, [&](std::int64_t row) {
        return (p.query_offsets != nullptr ? 0 : batch * p.q.batch_stride) +
               (queries.first + row) * p.q.row_stride;
      });
  const std::vector<float> k = head_of(p.k, p.type, key_head, keys.count, p.head_dimension, offset(p.k));
  const std::vector<float> v = head_of(p.v, p.type, key_head, keys.count, p.value_dimension, offset(p.v));
  const double sink = p.sinks == nullptr ? -infinity : double{p.sinks[head]};
  const double scale =
      p.scale * scale_of(p.q_scales, batch, key_head) * scale_of(p.k_scales, batch, key_head);
  const double value_scale = scale_of(p.v_scales, batch, key_head);
  std::vector<double> scores(static_cast<std::size_t>(keys.count)),
      sums(static_cast<std::size_t>(p.value_dimension));
  for (std::int64_t query = 0; query < p.queries; ++query) {
    double* const value =
        result.value.data() + ((batch * p.queries + query) * p.heads + head) * p.value_dimension;
    double& log_sum_exp = result.log_sum_exp[(batch * p.heads + head) * p.queries + query];
    if (query >= queries.count) {
      std::fill(value, value + p.value_dimension, nothing);
      log_sum_exp = nothing;
      continue;
    }
    const std::int64_t position = query + keys.count - queries.count;
    const std::int64_t first = p.window.left < 0 ? 0 : std::max<std::int64_t>(0, position - p.window.left);
    const std::int64_t end =
        p.window.right < 0 ? keys.count : std::min(keys.count, position + p.window.right + 1);
    double most = sink;
    for (std::int64_t key = first; key < end; ++key) {
      double score = 0;
      for (int e = 0; e < p.head_dimension; ++e)
        score += double{q[query * p.head_dimension + e]} * k[key * p.head_dimension + e];
      score *= scale;
      if (p.soft_cap > 0) score = p.soft_cap * std::tanh(score / p.soft_cap);
      if (p.alibi_slopes != nullptr) score += p.alibi_slopes[head] * static_cast<double>(key - position);
      if (offset_of_key(p, p.k, batch, keys, key) < 0) score = -infinity;
      scores[key] = score;
      most = std::max(most, score);
    }
    if (most == -infinity) {
      std::fill(value, value + p.value_dimension, 0.0);
      log_sum_exp = -infinity;
      continue;
    }
    double sum = std::exp(sink - most);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t key = first; key < end; ++key) {
      const double weight = std::exp(scores[key] - most);
      sum += weight;
      for (int e = 0; e < p.value_dimension; ++e) sums[e] += weight * v[key * p.value_dimension + e];
    }
    for (int e = 0; e < p.value_dimension; ++e) value[e] = value_scale * sums[e] / sum;
    log_sum_exp = most + std::log(sum);
  }
}

}  // namespace

HostAttention attention(const AttentionProblem& problem) {
  HostAttention result;
  const std::int64_t heads = problem.batch * problem.heads;
  result.log_sum_exp.resize(static_cast<std::size_t>(heads * problem.queries));
  result.value.resize(result.log_sum_exp.size() * static_cast<std::size_t>(problem.value_dimension));
  in_threads(heads, [&](std::int64_t i) { attend(problem, i / problem.heads, i % problem.heads, result); });
  return result;
}

}  // namespace tenon::reference
