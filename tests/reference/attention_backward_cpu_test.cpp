// The gradients of attention on the host against differences of attention itself.
#include "reference/attention_backward_cpu.hpp"

#include <gtest/gtest.h>

#include <random>

#include "reference/attention_cpu.hpp"
#include "reference/cpu.hpp"

namespace tenon::reference {
namespace {

// Multiples of 2^-6 below 1 as f16, which holds their neighbours 2^-10 away exactly.
std::vector<float> drawn(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> sixty_fourths(-60, 60);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = static_cast<float>(sixty_fourths(random)) / 64;
  return values;
}
std::vector<std::uint16_t> encoded(const std::vector<float>& values) {
  std::vector<std::uint16_t> elements(values.size());
  encode(Type::f16, values.data(), values.size(), elements.data());
  return elements;
}

struct Example {
  static constexpr int batch = 2, heads = 4, key_heads = 2, queries = 5, keys = 6, depth = 3, width = 2;
  std::vector<float> q = drawn(batch * queries * heads * depth, 1),
                     k = drawn(batch * keys * key_heads * depth, 2),
                     v = drawn(batch * keys * key_heads * width, 3),
                     d_o = drawn(batch * queries * heads * width, 4);
  std::vector<float> slopes = {0.5F, 0.25F, 0.125F, 0.0625F};
  AttentionWindow window;
  float soft_cap = 0;
  bool alibi = false;

  template <class F>
  auto with_problem(const F& f) const {
    const auto of_q = encoded(q), of_k = encoded(k), of_v = encoded(v), of_d_o = encoded(d_o);
    const auto tensor = [](const std::vector<std::uint16_t>& x, int rows, int all_heads,
                           int columns) -> AttentionTensor<const void*> {
      return {x.data(), all_heads * columns, columns, rows * all_heads * columns};
    };
    AttentionBackwardProblem problem;
    AttentionProblem& p = problem.forward;
    p.batch = batch, p.heads = heads, p.key_heads = key_heads, p.queries = queries, p.keys = keys;
    p.head_dimension = depth, p.value_dimension = width, p.type = Type::f16;
    p.q = tensor(of_q, queries, heads, depth);
    p.k = tensor(of_k, keys, key_heads, depth);
    p.v = tensor(of_v, keys, key_heads, width);
    problem.d_o = tensor(of_d_o, queries, heads, width);
    p.scale = 1.5F, p.window = window, p.soft_cap = soft_cap;
    p.alibi_slopes = alibi ? slopes.data() : nullptr;
    return f(problem);
  }
  double loss() const {
    return with_problem([&](const AttentionBackwardProblem& problem) {
      const HostAttention out = attention(problem.forward);
      double sum = 0;
      for (std::size_t i = 0; i < out.value.size(); ++i) sum += out.value[i] * d_o[i];
      return sum;
    });
  }
  void expect_differences() {
    const HostAttentionGradients found =
        with_problem([](const AttentionBackwardProblem& problem) { return attention_backward(problem); });
    const auto compare = [&](const char* name, std::vector<float>& values, const std::vector<double>& by) {
      ASSERT_EQ(by.size(), values.size()) << name;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float x = values[i], step = 0x1p-10F;
        values[i] = x + step;
        const double above = loss();
        values[i] = x - step;
        const double below = loss();
        values[i] = x;
        // The third derivatives are below 20: step^2 / 6 of that.
        EXPECT_NEAR(by[i], (above - below) / (2 * step), 4e-6) << name << " " << i;
      }
    };
    compare("dq", q, found.dq);
    compare("dk", k, found.dk);
    compare("dv", v, found.dv);
  }
};

TEST(HostAttentionBackward, AgreesWithDifferences) {
  Example().expect_differences();
}
TEST(HostAttentionBackward, AgreesWithDifferencesUnderACausalMaskWithSlopes) {
  Example e;
  e.window = {-1, 0};
  e.alibi = true;
  e.expect_differences();
}
TEST(HostAttentionBackward, AgreesWithDifferencesInAWindowWithASoftCap) {
  Example e;
  e.window = {2, 1};
  e.soft_cap = 2;
  e.expect_differences();
}

TEST(HostAttentionBackward, QueriesThatSeeNoKeyGiveNothing) {
  Example e;
  e.window = {-1, -1};
  HostAttentionGradients found = e.with_problem([](AttentionBackwardProblem problem) {
    problem.forward.keys = 3;  // of 5 queries the first two stand before every key
    problem.forward.window = {-1, 0};
    return attention_backward(problem);
  });
  for (int i = 0; i < 2 * Example::heads * Example::depth; ++i) EXPECT_EQ(found.dq[i], 0);
  EXPECT_NE(found.dq[3 * Example::heads * Example::depth], 0);
}

}  // namespace
}  // namespace tenon::reference
