// The check of `tenon attention --backward` lets the rounding of a kernel pass and no fault.
#include "command_line/attention_backward_check.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "reference/attention_backward_cpu.hpp"
#include "reference/cpu.hpp"

namespace tenon::command {
namespace {

class GradientsOf {
 public:
  explicit GradientsOf(Type type) {
    AttentionProblem& p = request_.problem;
    p.batch = 2, p.heads = 4, p.key_heads = 2, p.queries = 40, p.keys = 70;
    p.head_dimension = 64, p.value_dimension = 32, p.type = type, p.scale = 0.125F, p.window = {-1, 0};
    request_.q = random_tensor(1, p.batch, p.queries, p.heads, p.head_dimension, type);
    request_.k = random_tensor(2, p.batch, p.keys, p.key_heads, p.head_dimension, type);
    request_.v = random_tensor(3, p.batch, p.keys, p.key_heads, p.value_dimension, type);
    request_.d_o = random_tensor(4, p.batch, p.queries, p.heads, p.value_dimension, type);
    problem_.forward = p;
    problem_.forward.q = request_.q.at<const void*>(request_.q.data.data());
    problem_.forward.k = request_.k.at<const void*>(request_.k.data.data());
    problem_.forward.v = request_.v.at<const void*>(request_.v.data.data());
    problem_.d_o = request_.d_o.at<const void*>(request_.d_o.data.data());
    const reference::HostAttentionGradients exact = reference::attention_backward(problem_);
    dq = rounded(exact.dq), dk = rounded(exact.dk), dv = rounded(exact.dv);
  }
  BackwardCheck check() const { return check_gradients(problem_, request_, dq, dk, dv); }

  std::vector<float> dq, dk, dv;

 private:
  std::vector<float> rounded(const std::vector<double>& exact) const {
    std::vector<float> values(exact.begin(), exact.end());
    std::vector<std::uint16_t> elements(values.size());
    reference::encode(request_.problem.type, values.data(), values.size(), elements.data());
    reference::decode(request_.problem.type, elements.data(), values.size(), values.data());
    return values;
  }

  AttentionRequest request_;
  AttentionBackwardProblem problem_;
};

class BackwardCheckOf : public testing::TestWithParam<Type> {};

TEST_P(BackwardCheckOf, RoundedGradientsAreRight) {
  const BackwardCheck check = GradientsOf(GetParam()).check();
  EXPECT_TRUE(check.ok());
  for (const GradientCheck& gradient : {check.dq, check.dk, check.dv}) {
    EXPECT_GT(gradient.share_of_bound, 0);
    EXPECT_LT(gradient.share_of_bound, 0.5);
    EXPECT_LT(gradient.rms_error, gradient.max_error);
  }
}

// Each row of a head by itself: 0, as if no CTA had written it; NaN; and 1.25 times what it is.
TEST_P(BackwardCheckOf, FaultsOfARowAreFound) {
  GradientsOf gradients(GetParam());
  for (std::vector<float>* gradient : {&gradients.dq, &gradients.dk, &gradients.dv}) {
    const std::size_t row = gradient == &gradients.dv ? 32 : 64;
    for (std::size_t first = 0; first < gradient->size(); first += 13 * row) {
      const std::vector<float> right = *gradient;
      for (const float factor : {0.0F, 1.25F, std::numeric_limits<float>::quiet_NaN()}) {
        for (std::size_t i = first; i < first + row; ++i) (*gradient)[i] *= factor;
        EXPECT_FALSE(gradients.check().ok()) << "row " << first / row << " times " << factor;
        *gradient = right;
      }
    }
  }
  EXPECT_TRUE(gradients.check().ok());
}

INSTANTIATE_TEST_SUITE_P(Types, BackwardCheckOf, testing::Values(Type::f16, Type::bf16),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace tenon::command
