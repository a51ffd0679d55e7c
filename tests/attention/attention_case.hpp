// A random problem of attention on the tests' device, and the comparison of its result with float64.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "reference/attention_cpu.hpp"
#include "reference/cpu.hpp"
#include "support/device.hpp"
#include "tenon/attention/problem.hpp"

namespace tenon::test {

struct AttentionCase {
  Type type = Type::f16;
  int batch = 1, heads = 1, key_heads = 1, queries = 1, keys = 1;
  int head_dimension = 64, value_dimension = 64;
  AttentionWindow window;
  float soft_cap = 0;
  bool slopes = false;
  float scale = 0.125F;
  int pad = 0;          // elements behind each row of a head
  int shift = 0;        // elements before the first of each tensor
  float magnitude = 1;  // of Q
};

// The tensors are batch x rows x heads x (dimension + pad). O and the log-sum-exp are poisoned with NaN.
class Attention {
 public:
  explicit Attention(const AttentionCase& c)
      : case_(c),
        q_(drawn(c.queries, c.heads, c.head_dimension, 1, c.magnitude)),
        k_(drawn(c.keys, c.key_heads, c.head_dimension, 2, 1)),
        v_(drawn(c.keys, c.key_heads, c.value_dimension, 3, 1)),
        device_q_(q_),
        device_k_(k_),
        device_v_(v_),
        o_(std::vector<std::uint16_t>(size(c.queries, c.heads, c.value_dimension), 0xffff)),
        log_sum_exp_(std::vector<float>(static_cast<std::size_t>(c.batch * c.heads * c.queries),
                                        std::numeric_limits<float>::quiet_NaN())),
        slopes_(slopes_of(c.heads)),
        device_slopes_(slopes_) {}

  AttentionProblem problem() const {
    AttentionProblem p = on(device_q_.get(), device_k_.get(), device_v_.get(), device_slopes_.get());
    p.o = {o_.get() + case_.shift, row(case_.heads, case_.value_dimension), case_.value_dimension + case_.pad,
           case_.queries * row(case_.heads, case_.value_dimension)};
    p.log_sum_exp = log_sum_exp_.get();
    return p;
  }

  // Compares O, between whose rows nothing may be written, and the log-sum-exp.
  void check() const {
    const reference::HostAttention expected =
        reference::attention(on(q_.data(), k_.data(), v_.data(), slopes_.data()));
    const std::vector<std::uint16_t> found = o_.read();
    std::vector<float> values(found.size());
    reference::decode(case_.type, found.data(), found.size(), values.data());
    // P and O are rounded to the type; the error of a score, about 2^-22 of the products that it is made of,
    // changes the weights by as much. Values are below 5.
    const double unit = case_.type == Type::f16 ? 0x1p-11 : 0x1p-8;
    const double tolerance = 2.5 * unit + case_.magnitude * 0x1p-12;
    std::size_t next = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
      const std::int64_t in_head =
          (static_cast<std::int64_t>(at) - case_.shift) % (case_.value_dimension + case_.pad);
      const bool inside = static_cast<int>(at) >= case_.shift && in_head < case_.value_dimension &&
                          next < expected.value.size();
      if (!inside) {
        ASSERT_EQ(found[at], 0xffff) << "written outside of O, at element " << at;
        continue;
      }
      ASSERT_NEAR(values[at], expected.value[next], tolerance) << "element " << next << " of O";
      ++next;
    }
    ASSERT_EQ(next, expected.value.size());
    const std::vector<float> sums = log_sum_exp_.read();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double wanted = expected.log_sum_exp[i];
      if (std::isinf(wanted)) {
        ASSERT_EQ(sums[i], wanted) << "log-sum-exp " << i;
      } else {
        ASSERT_NEAR(sums[i], wanted, 1e-5 * (10 + std::abs(wanted))) << "log-sum-exp " << i;
      }
    }
  }

 private:
  std::int64_t row(int heads, int dimension) const {
    return static_cast<std::int64_t>(heads) * (dimension + case_.pad);
  }
  std::size_t size(int rows, int heads, int dimension) const {
    return static_cast<std::size_t>(case_.shift + case_.batch * rows * row(heads, dimension));
  }
  std::vector<std::uint16_t> drawn(int rows, int heads, int dimension, unsigned seed, float magnitude) const {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, magnitude);
    std::vector<float> values(size(rows, heads, dimension));
    for (float& x : values) x = std::clamp(normal(random), -4.0F * magnitude, 4.0F * magnitude);
    std::vector<std::uint16_t> elements(values.size());
    reference::encode(case_.type, values.data(), values.size(), elements.data());
    return elements;
  }
  static std::vector<float> slopes_of(int heads) {
    std::vector<float> slopes;
    for (int head = 0; head < heads; ++head) slopes.push_back(std::exp2(-1.0F - static_cast<float>(head)));
    return slopes;
  }
  AttentionProblem on(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v,
                      const float* slopes) const {
    const AttentionCase& c = case_;
    AttentionProblem p;
    p.batch = c.batch, p.heads = c.heads, p.key_heads = c.key_heads, p.queries = c.queries, p.keys = c.keys;
    p.head_dimension = c.head_dimension, p.value_dimension = c.value_dimension, p.type = c.type;
    const auto tensor = [&](const std::uint16_t* data, int rows, int heads,
                            int dimension) -> AttentionTensor<const void*> {
      return {data + c.shift, row(heads, dimension), dimension + c.pad, rows * row(heads, dimension)};
    };
    p.q = tensor(q, c.queries, c.heads, c.head_dimension);
    p.k = tensor(k, c.keys, c.key_heads, c.head_dimension);
    p.v = tensor(v, c.keys, c.key_heads, c.value_dimension);
    p.scale = c.scale, p.window = c.window, p.soft_cap = c.soft_cap;
    p.alibi_slopes = c.slopes ? slopes : nullptr;
    return p;
  }

  AttentionCase case_;
  std::vector<std::uint16_t> q_, k_, v_;
  Buffer<std::uint16_t> device_q_, device_k_, device_v_, o_;
  Buffer<float> log_sum_exp_;
  std::vector<float> slopes_;
  Buffer<float> device_slopes_;
};

}  // namespace tenon::test
