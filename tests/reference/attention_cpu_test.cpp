// Attention on the host, on problems whose result is known without a computer.
#include "reference/attention_cpu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/cpu.hpp"

namespace tenon::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::uint16_t> encoded(Type type, const std::vector<float>& values) {
  std::vector<std::uint16_t> elements(values.size());
  encode(type, values.data(), values.size(), elements.data());
  return elements;
}

// Q, K and V of one batch whose strides are those of rows x heads x dimension, dense.
struct Example {
  std::vector<std::uint16_t> q, k, v;
  AttentionProblem problem;

  Example(Type type, int queries, int keys, int heads, int key_heads, int dimension, int value_dimension,
          const std::vector<float>& q_values, const std::vector<float>& k_values,
          const std::vector<float>& v_values)
      : q(encoded(type, q_values)), k(encoded(type, k_values)), v(encoded(type, v_values)) {
    problem.batch = 1, problem.heads = heads, problem.key_heads = key_heads;
    problem.queries = queries, problem.keys = keys;
    problem.head_dimension = dimension, problem.value_dimension = value_dimension, problem.type = type;
    problem.q = {q.data(), heads * dimension, dimension, 0};
    problem.k = {k.data(), key_heads * dimension, dimension, 0};
    problem.v = {v.data(), key_heads * value_dimension, value_dimension, 0};
    problem.scale = 1;
  }
};

// Where Q is 0 every visible key weighs the same: O is the mean of their values.
Example of_means(int queries, int keys) {
  std::vector<float> v(static_cast<std::size_t>(keys));
  for (int key = 0; key < keys; ++key) v[key] = static_cast<float>(key);
  return {
      Type::f16, queries, keys, 1, 1, 1, 1, std::vector<float>(queries, 0.0F), std::vector<float>(keys, 1.0F),
      v};
}

TEST(HostAttention, MeanOfEveryKeyWithoutAWindow) {
  const HostAttention result = attention(of_means(3, 5).problem);
  for (int query = 0; query < 3; ++query) {
    EXPECT_DOUBLE_EQ(result.value[query], 2);
    EXPECT_DOUBLE_EQ(result.log_sum_exp[query], std::log(5.0));
  }
}

// Two heads of keys, of which the second has scales: 2 * 0.25 of scores, 4 of values.
TEST(HostAttention, ScalesOfE4m3) {
  Example e(Type::f16, 1, 2, 4, 2, 1, 1, {}, {}, {});
  std::vector<std::uint8_t> q(4), k(4), v(4);
  const float ones[] = {1, 1, 1, 1}, of_k[] = {0, 0, 2, 2}, of_v[] = {0, 0, 1, 1};  // row after row
  encode(Type::e4m3, ones, 4, q.data());
  encode(Type::e4m3, of_k, 4, k.data());
  encode(Type::e4m3, of_v, 4, v.data());
  const float scales[] = {1, 2, 1, 0.25F, 1, 4};
  AttentionProblem& p = e.problem;
  p.type = Type::e4m3;
  p.q.data = q.data(), p.k.data = k.data(), p.v.data = v.data();
  p.q_scales = {scales, 1, 0}, p.k_scales = {scales + 2, 1, 0}, p.v_scales = {scales + 4, 1, 0};
  const HostAttention result = attention(p);
  for (int head = 0; head < 4; ++head) {
    const double weight = std::exp(head < 2 ? 2.0 : 1.0);
    EXPECT_DOUBLE_EQ(result.value[head], (head < 2 ? 1 : 4) * weight / (1 + weight));
    EXPECT_DOUBLE_EQ(result.log_sum_exp[head], std::log(1 + weight));
  }
}

TEST(HostAttention, CausalIsAlignedToTheEnd) {
  Example e = of_means(3, 5);
  e.problem.window = {-1, 0};
  const HostAttention result = attention(e.problem);
  EXPECT_DOUBLE_EQ(result.value[0], 1);  // of the keys 0, 1, 2
  EXPECT_DOUBLE_EQ(result.value[1], 1.5);
  EXPECT_DOUBLE_EQ(result.value[2], 2);
}

TEST(HostAttention, QueriesBeforeTheFirstKeySeeNothing) {
  Example e = of_means(5, 3);
  e.problem.window = {-1, 0};
  const HostAttention result = attention(e.problem);
  for (int query = 0; query < 2; ++query) {
    EXPECT_EQ(result.value[query], 0);
    EXPECT_EQ(result.log_sum_exp[query], -infinity);
  }
  EXPECT_DOUBLE_EQ(result.value[2], 0);
  EXPECT_DOUBLE_EQ(result.log_sum_exp[2], 0);
  EXPECT_DOUBLE_EQ(result.value[4], 1);
}

// Values are the numbers of their rows in memory.
TEST(HostAttention, OffsetsSayWhereABatchHasItsRows) {
  Example e = of_means(4, 7);
  AttentionProblem& p = e.problem;
  const std::int32_t query_offsets[] = {1, 3, 4, 4}, key_offsets[] = {0, 3, 7, 2};
  p.batch = 3, p.queries = 2, p.keys = 4, p.window = {-1, 0};
  p.query_offsets = query_offsets, p.query_rows = 4, p.key_offsets = key_offsets, p.key_rows = 7;
  const HostAttention result = attention(p);
  EXPECT_DOUBLE_EQ(result.value[0], 0.5);
  EXPECT_DOUBLE_EQ(result.value[1], 1);
  EXPECT_DOUBLE_EQ(result.value[2], 4.5);  // of the rows 3, 4, 5, 6
  EXPECT_DOUBLE_EQ(result.log_sum_exp[2], std::log(4.0));
  for (int i = 3; i < 6; ++i) {
    EXPECT_TRUE(std::isnan(result.value[i]));
    EXPECT_TRUE(std::isnan(result.log_sum_exp[i]));
  }
}

TEST(HostAttention, PagesOutOfRangeAreNotThere) {
  Example e = of_means(2, 8);
  AttentionProblem& p = e.problem;
  const std::int32_t table[] = {3, 0, -1, 4, 2, 1}, lengths[] = {5, 4};
  p.batch = 2, p.queries = 1, p.keys = 6, p.key_lengths = lengths;
  p.q.batch_stride = 1, p.k.batch_stride = p.v.batch_stride = 2;
  p.pages = {table, 3, 2, 4};
  const HostAttention result = attention(p);
  EXPECT_DOUBLE_EQ(result.value[0], (6 + 7 + 0 + 1) / 4.0);
  EXPECT_DOUBLE_EQ(result.value[1], (4 + 5) / 2.0);
  EXPECT_DOUBLE_EQ(result.log_sum_exp[1], std::log(2.0));
}

TEST(HostAttention, SinkWeighsLikeAKeyWithoutAValue) {
  Example e = of_means(4, 3);
  const float sink = std::log(2.0F);
  e.problem.sinks = &sink, e.problem.window = {-1, 0};
  const HostAttention result = attention(e.problem);
  EXPECT_EQ(result.value[0], 0);  // sees nothing
  EXPECT_NEAR(result.log_sum_exp[0], sink, 1e-15);
  EXPECT_NEAR(result.value[3], 3 / 5.0, 1e-7);
  EXPECT_NEAR(result.log_sum_exp[3], std::log(5.0), 1e-7);
}

TEST(HostAttention, WindowHasBothEnds) {
  Example e = of_means(6, 6);
  e.problem.window = {1, 2};
  const HostAttention result = attention(e.problem);
  EXPECT_DOUBLE_EQ(result.value[0], 1);    // 0 .. 2
  EXPECT_DOUBLE_EQ(result.value[3], 3.5);  // 2 .. 5
  EXPECT_DOUBLE_EQ(result.value[5], 4.5);  // 4, 5
}

TEST(HostAttention, NoKeys) {
  Example e = of_means(2, 0);
  const HostAttention result = attention(e.problem);
  EXPECT_EQ(result.value, (std::vector<double>{0, 0}));
  EXPECT_EQ(result.log_sum_exp, (std::vector<double>{-infinity, -infinity}));
}

TEST(HostAttention, SoftmaxOfScaledScores) {
  // Scores 1 and 3 after the scale.
  const Example e(Type::bf16, 1, 2, 1, 1, 2, 1, {1, 2}, {0, 1, 2, 2}, {10, 20});
  AttentionProblem problem = e.problem;
  problem.scale = 0.5F;
  const HostAttention result = attention(problem);
  const double weight = 1 / (1 + std::exp(2.0));
  EXPECT_NEAR(result.value[0], 10 * weight + 20 * (1 - weight), 1e-12);
  EXPECT_NEAR(result.log_sum_exp[0], std::log(std::exp(1.0) + std::exp(3.0)), 1e-12);
}

TEST(HostAttention, CapThenSlope) {
  const Example e(Type::f16, 1, 2, 1, 1, 1, 1, {4}, {1, 2}, {1, 0});
  AttentionProblem problem = e.problem;
  const float slope = 0.25F;
  problem.soft_cap = 2, problem.alibi_slopes = &slope;
  const HostAttention result = attention(problem);
  const double a = 2 * std::tanh(2.0) - 0.25, b = 2 * std::tanh(4.0);
  EXPECT_NEAR(result.value[0], std::exp(a) / (std::exp(a) + std::exp(b)), 1e-12);
}

TEST(HostAttention, GroupedHeadsAndStrides) {
  // Heads 0 and 1 read key head 0, heads 2 and 3 key head 1.
  Example e(Type::f16, 1, 1, 4, 2, 1, 2, {0, 0, 0, 0}, {0, 0}, {1, 2, 3, 4});
  e.problem.batch = 2;  // a batch stride of 0 repeats it
  const HostAttention result = attention(e.problem);
  const std::vector<double> once = {1, 2, 1, 2, 3, 4, 3, 4};
  std::vector<double> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(result.value, twice);
}

TEST(HostAttention, LargeScoresDoNotOverflow) {
  const Example e(Type::f16, 1, 2, 1, 1, 1, 1, {1000}, {1000, 999}, {3, 5});
  const HostAttention result = attention(e.problem);
  EXPECT_EQ(result.value[0], 3);
  EXPECT_DOUBLE_EQ(result.log_sum_exp[0], 1e6);
}

}  // namespace
}  // namespace tenon::reference
