// A random problem of the backward pass of attention on the tests' device, and the comparison of its
// gradients with float64.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "attention/attention_case.hpp"
#include "host/attention_backward_on.hpp"
#include "reference/attention_backward_cpu.hpp"
#include "reference/attention_cpu.hpp"
#include "reference/cpu.hpp"
#include "support/device.hpp"

namespace tenon::test {

// The tensors are batch x rows x heads x (dimension + pad), with `shift` elements before the first. Gradients
// and workspace are poisoned with NaN. O and the log-sum-exp are those of float64, rounded.
class AttentionBackward {
  using Words = std::vector<std::uint16_t>;
  struct Tensor {
    int rows, heads, dimension;
    Words host;
    Buffer<std::uint16_t> device;
    Tensor(int rows_, int heads_, int dimension_, Words values)
        : rows(rows_), heads(heads_), dimension(dimension_), host(std::move(values)), device(host) {}
  };

 public:
  explicit AttentionBackward(const AttentionCase& c, bool deterministic = false)
      : case_(c),
        deterministic_(deterministic),
        q_(of(c.queries, c.heads, c.head_dimension, 1, c.magnitude)),
        k_(of(c.keys, c.key_heads, c.head_dimension, 2, 1)),
        v_(of(c.keys, c.key_heads, c.value_dimension, 3, 1)),
        d_o_(of(c.queries, c.heads, c.value_dimension, 4, 1)),
        o_(of(c.queries, c.heads, c.value_dimension, 0, 0)),
        dq_(poisoned(c.queries, c.heads, c.head_dimension)),
        dk_(poisoned(c.keys, c.key_heads, c.head_dimension)),
        dv_(poisoned(c.keys, c.key_heads, c.value_dimension)),
        slopes_(slopes_of(c.heads)),
        device_slopes_(slopes_),
        log_sum_exp_(forward()) {}

  // With a workspace for the kernel.
  AttentionBackwardProblem problem(const char* kernel = nullptr) {
    AttentionBackwardProblem p = on(true);
    p.forward.log_sum_exp = log_sum_exp_.get();
    p.workspace_bytes = workspace_size(launcher(), p, kernel);
    workspace_ = std::make_unique<Buffer<float>>(
        std::vector<float>(p.workspace_bytes / sizeof(float), std::numeric_limits<float>::quiet_NaN()));
    p.workspace = workspace_->get();
    return p;
  }

  void check() const {
    const reference::HostAttentionGradients expected = reference::attention_backward(on(false));
    compare("dq", dq_, expected.dq);
    compare("dk", dk_, expected.dk);
    compare("dv", dv_, expected.dv);
  }
  // The bits of all gradients.
  Words bits() const {
    Words all;
    for (const Tensor* x : {&dq_, &dk_, &dv_}) {
      const Words part = x->device.read();
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  // P and dS are rounded to the type, and so are O, from which dP is reduced, and the gradients. Of a sum of
  // such terms the errors add up as their squares do, as do the terms: the error has the size of unit times
  // that of the gradients, times 4 to 6 for the largest of some 10^4 elements, and twice that in windows of
  // few keys, where the rounding of O stands out. f32 accumulates dP and the sum that is taken from it, both
  // below 30, with errors of 2^-19: that times Q, up to 4 magnitudes, where the two should cancel.
  void compare(const char* name, const Tensor& x, const std::vector<double>& expected) const {
    const Words found = x.device.read();
    std::vector<float> values(found.size());
    reference::decode(case_.type, found.data(), found.size(), values.data());
    double square = 0;
    for (const double e : expected) square += e * e;
    const double size = expected.empty() ? 0 : std::sqrt(square / static_cast<double>(expected.size()));
    const double unit = case_.type == Type::f16 ? 0x1p-11 : 0x1p-8;
    std::size_t next = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
      const std::int64_t in_head = (static_cast<std::int64_t>(at) - case_.shift) % (x.dimension + case_.pad);
      const bool inside =
          static_cast<int>(at) >= case_.shift && in_head < x.dimension && next < expected.size();
      if (!inside) {
        ASSERT_EQ(found[at], 0xffff) << "written outside of " << name << ", at element " << at;
        continue;
      }
      const double tolerance =
          unit * (std::abs(expected[next]) + 12 * size + 0.05) + case_.magnitude * (0x1p-14 * size + 0x1p-17);
      ASSERT_NEAR(values[at], expected[next], tolerance) << "element " << next << " of " << name;
      ++next;
    }
    ASSERT_EQ(next, expected.size());
  }

  std::int64_t row(int heads, int dimension) const {
    return static_cast<std::int64_t>(heads) * (dimension + case_.pad);
  }
  std::size_t size(int rows, int heads, int dimension) const {
    return static_cast<std::size_t>(case_.shift + case_.batch * rows * row(heads, dimension));
  }
  Tensor of(int rows, int heads, int dimension, unsigned seed, float magnitude) const {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 1);
    std::vector<float> values(size(rows, heads, dimension));
    for (float& x : values) x = magnitude * std::clamp(normal(random), -4.0F, 4.0F);
    Words elements(values.size());
    reference::encode(case_.type, values.data(), values.size(), elements.data());
    return {rows, heads, dimension, elements};
  }
  Tensor poisoned(int rows, int heads, int dimension) const {
    return {rows, heads, dimension, Words(size(rows, heads, dimension), 0xffff)};
  }
  static std::vector<float> slopes_of(int heads) {
    std::vector<float> slopes;
    for (int head = 0; head < heads; ++head) slopes.push_back(std::exp2(-1.0F - static_cast<float>(head)));
    return slopes;
  }
  // Writes O and returns the log-sum-exp.
  std::vector<float> forward() {
    const reference::HostAttention out = reference::attention(on(false).forward);
    std::size_t next = 0;
    for (std::size_t at = static_cast<std::size_t>(case_.shift); at < o_.host.size(); ++at) {
      if ((static_cast<int>(at) - case_.shift) % (o_.dimension + case_.pad) >= o_.dimension) continue;
      const auto value = static_cast<float>(out.value[next++]);
      reference::encode(case_.type, &value, 1, &o_.host[at]);
    }
    o_.device.write(o_.host);
    std::vector<float> sums;
    for (const double x : out.log_sum_exp) sums.push_back(static_cast<float>(x));
    return sums;
  }
  AttentionBackwardProblem on(bool device) const {
    const AttentionCase& c = case_;
    AttentionBackwardProblem problem;
    AttentionProblem& p = problem.forward;
    p.batch = c.batch, p.heads = c.heads, p.key_heads = c.key_heads, p.queries = c.queries, p.keys = c.keys;
    p.head_dimension = c.head_dimension, p.value_dimension = c.value_dimension, p.type = c.type;
    const auto input = [&](const Tensor& x) -> AttentionTensor<const void*> {
      const std::uint16_t* const data = device ? x.device.get() : x.host.data();
      return {data + c.shift, row(x.heads, x.dimension), x.dimension + c.pad,
              x.rows * row(x.heads, x.dimension)};
    };
    const auto output = [&](const Tensor& x) -> AttentionTensor<void*> {
      return {x.device.get() + c.shift, row(x.heads, x.dimension), x.dimension + c.pad,
              x.rows * row(x.heads, x.dimension)};
    };
    p.q = input(q_), p.k = input(k_), p.v = input(v_), p.o = output(o_);
    problem.d_o = input(d_o_);
    problem.dq = output(dq_), problem.dk = output(dk_), problem.dv = output(dv_);
    problem.deterministic = deterministic_;
    p.scale = c.scale, p.window = c.window, p.soft_cap = c.soft_cap;
    p.alibi_slopes = !c.slopes ? nullptr : device ? device_slopes_.get() : slopes_.data();
    return problem;
  }

  AttentionCase case_;
  bool deterministic_;
  Tensor q_, k_, v_, d_o_, o_, dq_, dk_, dv_;
  std::vector<float> slopes_;
  Buffer<float> device_slopes_;
  Buffer<float> log_sum_exp_;
  std::unique_ptr<Buffer<float>> workspace_;
};

}  // namespace tenon::test
