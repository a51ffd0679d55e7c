// A random problem of attention on the tests' device, and the comparison of its result with float64.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
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
  int pad = 0;                    // elements behind each row of a head
  int shift = 0;                  // elements before the first of each tensor
  float magnitude = 1;            // of Q
  Type output_type = Type::bf16;  // of e4m3
  bool scales = false;            // of e4m3: other scales than 1

  bool sinks = false;  // of 1, -1, 3, -3 ...
  // Offsets and lengths as the kernel reads them; empty: none. What lies behind them holds NaN.
  std::vector<std::int32_t> query_offsets, key_offsets, key_lengths;
  int query_rows = 0, key_rows = 0;
  // Pages: `table` has table_stride entries of each batch. Pages that it does not name hold NaN.
  int page_size = 0, page_count = 0, table_stride = 0;
  std::vector<std::int32_t> table;

  int batches_of_q() const { return query_offsets.empty() ? batch : 1; }
  int rows_of_q() const { return query_offsets.empty() ? queries : query_rows; }
  int batches_of_k() const { return page_size > 0 ? page_count : key_offsets.empty() ? batch : 1; }
  int rows_of_k() const { return page_size > 0 ? page_size : key_offsets.empty() ? keys : key_rows; }
};

// Whether a row of K and V, of all in memory, is a key of a batch.
inline std::vector<bool> used_rows_of_k(const AttentionCase& c) {
  std::vector<bool> used(static_cast<std::size_t>(c.batches_of_k() * c.rows_of_k()), false);
  for (int b = 0; b < c.batch; ++b) {
    int first = b * c.keys, count = c.keys;
    if (!c.key_lengths.empty()) count = c.key_lengths[b];
    if (!c.key_offsets.empty()) first = c.key_offsets[b], count = c.key_offsets[b + 1] - first;
    if (count < 0 || count > c.keys) continue;
    for (int key = 0; key < count; ++key) {
      int row = first + key;
      if (c.page_size > 0) {
        const int page = c.table[b * c.table_stride + key / c.page_size];
        row = page < 0 || page >= c.page_count ? -1 : page * c.page_size + key % c.page_size;
      }
      if (row >= 0 && row < static_cast<int>(used.size())) used[row] = true;
    }
  }
  return used;
}

// Gives a case pages of a pool that is a third larger than it needs, in a shuffled order.
inline void put_in_pages(AttentionCase& c, int page_size) {
  c.page_size = page_size;
  const int needed = (c.keys + page_size - 1) / page_size;
  c.table_stride = needed + 1;
  c.page_count = c.batch * needed * 4 / 3 + 1;
  std::vector<std::int32_t> pages(c.page_count);
  std::iota(pages.begin(), pages.end(), 0);
  std::shuffle(pages.begin(), pages.end(), std::mt19937(7));
  c.table.assign(c.batch * c.table_stride, -1);
  for (int b = 0; b < c.batch; ++b)
    for (int i = 0; i < needed; ++i) c.table[b * c.table_stride + i] = pages[b * needed + i];
}

// The tensors are batch x rows x heads x (dimension + pad). O and the log-sum-exp are poisoned with NaN.
class Attention {
 public:
  explicit Attention(const AttentionCase& c)
      : case_(c),
        q_(drawn(c.batches_of_q() * c.rows_of_q(), c.heads, c.head_dimension, 1, c.magnitude)),
        k_(drawn(c.batches_of_k() * c.rows_of_k(), c.key_heads, c.head_dimension, 2, 1)),
        v_(drawn(c.batches_of_k() * c.rows_of_k(), c.key_heads, c.value_dimension, 3, 1)),
        device_q_(q_),
        device_k_(with_unused_rows_poisoned(k_, c.head_dimension)),
        device_v_(with_unused_rows_poisoned(v_, c.value_dimension)),
        o_(std::vector<std::uint16_t>(size(c.batches_of_q() * c.rows_of_q(), c.heads, c.value_dimension),
                                      0xffff)),
        log_sum_exp_(std::vector<float>(static_cast<std::size_t>(c.batch * c.heads * c.queries),
                                        std::numeric_limits<float>::quiet_NaN())),
        slopes_(slopes_of(c.heads)),
        sinks_(sinks_of(c.heads)),
        scales_(scales_of(3 * c.batch * c.key_heads)),
        device_slopes_(slopes_),
        device_sinks_(sinks_),
        device_scales_(scales_),
        device_query_offsets_(one_at_least(c.query_offsets)),
        device_key_offsets_(one_at_least(c.key_offsets)),
        device_key_lengths_(one_at_least(c.key_lengths)),
        device_table_(one_at_least(c.table)),
        error_(std::vector<std::int32_t>{0}) {}

  AttentionProblem problem() const {
    AttentionProblem p = on(device_q_.get(), device_k_.get(), device_v_.get(), device_scales_.get());
    p.alibi_slopes = case_.slopes ? device_slopes_.get() : nullptr;
    p.sinks = case_.sinks ? device_sinks_.get() : nullptr;
    p.query_offsets = case_.query_offsets.empty() ? nullptr : device_query_offsets_.get();
    p.key_offsets = case_.key_offsets.empty() ? nullptr : device_key_offsets_.get();
    p.key_lengths = case_.key_lengths.empty() ? nullptr : device_key_lengths_.get();
    p.pages.table = case_.table.empty() ? nullptr : device_table_.get();
    p.error = error_.get();
    p.o = {o_.get() + case_.shift, row(case_.heads, case_.value_dimension), case_.value_dimension + case_.pad,
           case_.rows_of_q() * row(case_.heads, case_.value_dimension)};
    p.log_sum_exp = log_sum_exp_.get();
    return p;
  }

  // Compares O, between whose rows nothing may be written, the log-sum-exp and the error word.
  void check(bool out_of_range = false) const {
    const reference::HostAttention expected = reference::attention(on_host(v_));
    ASSERT_EQ(error_.read().at(0), out_of_range ? 1 : 0) << "the error word";
    const std::vector<std::uint16_t> found = o_.read();
    std::vector<float> values(found.size());
    reference::decode(type_of_output(problem()), found.data(), found.size(), values.data());
    // P and O are rounded to the type; the error of a score, about 2^-22 of the products that it is made of,
    // changes the weights by as much. Values are below 5.
    const double unit = case_.type == Type::f16 ? 0x1p-11 : 0x1p-8;
    const double fixed = 2.5 * unit + case_.magnitude * 0x1p-12;
    const std::vector<double> of_e4m3 =
        case_.type == Type::e4m3 ? tolerances_of_e4m3() : std::vector<double>();
    const std::vector<int> query_of_row = queries_of_rows();
    const auto columns = case_.value_dimension;
    for (std::size_t at = 0; at < values.size(); ++at) {
      const std::int64_t in_tensor = static_cast<std::int64_t>(at) - case_.shift;
      const std::int64_t in_head = in_tensor % (columns + case_.pad);
      const std::int64_t head = in_tensor / (columns + case_.pad) % case_.heads;
      const std::int64_t row_of_o = in_tensor / row(case_.heads, columns);
      const int query = in_tensor < 0 ? -1 : query_of_row.at(static_cast<std::size_t>(row_of_o));
      if (query < 0 || in_head >= columns) {
        ASSERT_EQ(found[at], 0xffff) << "written outside of O, at element " << at;
        continue;
      }
      const auto number = static_cast<std::size_t>((query * case_.heads + head) * columns + in_head);
      const double tolerance = of_e4m3.empty() ? fixed : of_e4m3.at(number);
      ASSERT_NEAR(values[at], expected.value.at(number), tolerance) << "element " << number << " of O";
    }
    const std::vector<float> sums = log_sum_exp_.read();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double wanted = expected.log_sum_exp[i];
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(sums[i])) << "written to log-sum-exp " << i << ", which no query has";
      } else if (std::isinf(wanted)) {
        ASSERT_EQ(sums[i], wanted) << "log-sum-exp " << i;
      } else {
        const double of_scores = case_.type == Type::e4m3 ? score_error_of_e4m3() : 0;
        ASSERT_NEAR(sums[i], wanted, 1e-5 * (10 + std::abs(wanted)) + of_scores) << "log-sum-exp " << i;
      }
    }
  }

  // That no element of O is above `largest` or NaN, nor a log-sum-exp.
  void check_range(float largest) const {
    const std::vector<std::uint16_t> found = o_.read();
    std::vector<float> values(found.size());
    reference::decode(type_of_output(problem()), found.data(), found.size(), values.data());
    for (const float x : values) ASSERT_LE(std::abs(x), largest);
    for (const float x : log_sum_exp_.read()) ASSERT_TRUE(std::isfinite(x)) << x;
  }

 private:
  // Tensor cores add e4m3 products with 13 bits behind the point of the largest of an instruction, of 32
  // products and the accumulator; each of the 33 loses up to a unit. Products are at most 16 * magnitude.
  double score_error_of_e4m3() const {
    const int steps = (case_.head_dimension + 31) / 32;
    const double largest = 16 * case_.magnitude * (case_.scales ? largest_scale * largest_scale : 1);
    return std::abs(case_.scale) * 2 * steps * 33 * 0x1p-13 * largest;
  }
  // P is rounded to 3 bits behind the point, which is within 2^-4 of it, or where it is small to multiples of
  // 2^-9 of numbers whose largest is 2^6 or more: both change O by so much of P |V|, and of |V|. The errors
  // of scores change P as much, and each step of P V loses up to 33 units again.
  std::vector<double> tolerances_of_e4m3() const {
    std::vector<std::uint8_t> magnitudes = v_;
    for (std::uint8_t& x : magnitudes) x &= 0x7fU;
    const reference::HostAttention of_magnitudes = reference::attention(on_host(magnitudes));
    std::vector<double> tolerances;
    const double unit = case_.output_type == Type::f16 ? 0x1p-11 : 0x1p-8;
    const double relative = 0x1p-4 + 2 * score_error_of_e4m3() + unit + (case_.keys / 32.0 + 1) * 0x1p-12;
    const double small = case_.keys * 0x1p-16 * 4 * (case_.scales ? largest_scale : 1);
    for (const double x : of_magnitudes.value) tolerances.push_back(x * relative + small + 0x1p-20);
    return tolerances;
  }

  std::int64_t row(int heads, int dimension) const {
    return static_cast<std::int64_t>(heads) * (dimension + case_.pad);
  }
  std::size_t size(int rows, int heads, int dimension) const {
    return static_cast<std::size_t>(case_.shift + rows * row(heads, dimension));
  }
  std::vector<std::uint8_t> drawn(int rows, int heads, int dimension, unsigned seed, float magnitude) const {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, magnitude);
    std::vector<float> values(size(rows, heads, dimension));
    for (float& x : values) x = std::clamp(normal(random), -4.0F * magnitude, 4.0F * magnitude);
    std::vector<std::uint8_t> elements(bytes(case_.type) * values.size());
    reference::encode(case_.type, values.data(), values.size(), elements.data());
    return elements;
  }
  // Of each row of O, its batch * queries + query; -1: of no batch.
  std::vector<int> queries_of_rows() const {
    std::vector<int> all(static_cast<std::size_t>(case_.batches_of_q() * case_.rows_of_q()), -1);
    if (case_.query_offsets.empty()) std::iota(all.begin(), all.end(), 0);
    for (std::size_t b = 0; b + 1 < case_.query_offsets.size(); ++b) {
      const int first = case_.query_offsets[b], end = case_.query_offsets[b + 1];
      if (first < 0 || end > case_.query_rows || end - first > case_.queries) continue;
      for (int row = first; row < end; ++row)
        all.at(static_cast<std::size_t>(row)) = static_cast<int>(b) * case_.queries + row - first;
    }
    return all;
  }
  std::vector<std::uint8_t> with_unused_rows_poisoned(std::vector<std::uint8_t> elements,
                                                      int dimension) const {
    const std::vector<bool> used = used_rows_of_k(case_);
    const auto element = static_cast<std::int64_t>(bytes(case_.type));
    const std::int64_t stride = element * row(case_.key_heads, dimension);
    for (std::size_t i = 0; i < used.size(); ++i) {
      const auto first = elements.begin() + element * case_.shift + static_cast<std::int64_t>(i) * stride;
      if (!used[i]) std::fill(first, first + stride, std::uint8_t{0xff});
    }
    return elements;
  }
  static std::vector<std::int32_t> one_at_least(std::vector<std::int32_t> values) {
    if (values.empty()) values.push_back(0);
    return values;
  }
  static std::vector<float> sinks_of(int heads) {
    std::vector<float> sinks;
    for (int head = 0; head < heads; ++head)
      sinks.push_back(static_cast<float>(head / 2 * 2 + 1) * (head % 2 == 0 ? 1.0F : -1.0F));
    return sinks;
  }
  static std::vector<float> slopes_of(int heads) {
    std::vector<float> slopes;
    for (int head = 0; head < heads; ++head) slopes.push_back(std::exp2(-1.0F - static_cast<float>(head)));
    return slopes;
  }
  static constexpr float largest_scale = 1.5F;
  static std::vector<float> scales_of(int count) {
    std::vector<float> scales;
    for (int i = 0; i < count; ++i) scales.push_back(largest_scale - 0.25F * static_cast<float>(i % 5));
    return scales;
  }
  AttentionProblem on_host(const std::vector<std::uint8_t>& v) const {
    AttentionProblem p = on(q_.data(), k_.data(), v.data(), scales_.data());
    p.alibi_slopes = case_.slopes ? slopes_.data() : nullptr;
    p.sinks = case_.sinks ? sinks_.data() : nullptr;
    p.query_offsets = case_.query_offsets.empty() ? nullptr : case_.query_offsets.data();
    p.key_offsets = case_.key_offsets.empty() ? nullptr : case_.key_offsets.data();
    p.key_lengths = case_.key_lengths.empty() ? nullptr : case_.key_lengths.data();
    p.pages.table = case_.table.empty() ? nullptr : case_.table.data();
    return p;
  }
  // Without what its caller's memory holds beside Q, K, V and their scales.
  AttentionProblem on(const std::uint8_t* q, const std::uint8_t* k, const std::uint8_t* v,
                      const float* scales) const {
    const AttentionCase& c = case_;
    AttentionProblem p;
    p.batch = c.batch, p.heads = c.heads, p.key_heads = c.key_heads, p.queries = c.queries, p.keys = c.keys;
    p.head_dimension = c.head_dimension, p.value_dimension = c.value_dimension, p.type = c.type;
    p.output_type = c.output_type;
    const auto tensor = [&](const std::uint8_t* data, int rows, int heads,
                            int dimension) -> AttentionTensor<const void*> {
      return {data + bytes(c.type) * c.shift, row(heads, dimension), dimension + c.pad,
              rows * row(heads, dimension)};
    };
    p.q = tensor(q, c.rows_of_q(), c.heads, c.head_dimension);
    p.k = tensor(k, c.rows_of_k(), c.key_heads, c.head_dimension);
    p.v = tensor(v, c.rows_of_k(), c.key_heads, c.value_dimension);
    p.scale = c.scale, p.window = c.window, p.soft_cap = c.soft_cap;
    p.query_rows = c.query_rows, p.key_rows = c.key_rows;
    p.pages = {nullptr, c.table_stride, c.page_size, c.page_count};
    if (c.scales) {  // of Q, K, V, each batch after batch
      const int each = c.batch * c.key_heads;
      p.q_scales = {scales, 1, c.key_heads};
      p.k_scales = {scales + each, 1, c.key_heads};
      p.v_scales = {scales + 2 * each, 1, c.key_heads};
    }
    return p;
  }

  AttentionCase case_;
  std::vector<std::uint8_t> q_, k_, v_;
  Buffer<std::uint8_t> device_q_, device_k_, device_v_;
  Buffer<std::uint16_t> o_;
  Buffer<float> log_sum_exp_;
  std::vector<float> slopes_, sinks_, scales_;
  Buffer<float> device_slopes_, device_sinks_, device_scales_;
  Buffer<std::int32_t> device_query_offsets_, device_key_offsets_, device_key_lengths_, device_table_, error_;
};

}  // namespace tenon::test
