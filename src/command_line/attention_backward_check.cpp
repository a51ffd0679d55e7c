// See attention_backward_check.hpp.
#include "command_line/attention_backward_check.hpp"

#include <algorithm>
#include <cmath>

#include "command_line/attention_forward.hpp"
#include "reference/attention_backward_cpu.hpp"
#include "reference/attention_cpu.hpp"

namespace tenon::command {
namespace {

// Root mean squares and largest values of a tensor's rows of one head.
struct RowSizes {
  std::vector<double> rms;
  double rms_of_all = 0, largest = 0, largest_rms = 0;
};

template <class Value>
RowSizes row_sizes(const std::vector<Value>& values, int dimension) {
  RowSizes sizes;
  double squares = 0;
  for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(dimension)) {
    double of_row = 0;
    for (int i = 0; i < dimension; ++i) {
      const double x = static_cast<double>(values[row + static_cast<std::size_t>(i)]);
      of_row += x * x;
      sizes.largest = std::max(sizes.largest, std::abs(x));
    }
    squares += of_row;
    sizes.rms.push_back(std::sqrt(of_row / dimension));
    sizes.largest_rms = std::max(sizes.largest_rms, sizes.rms.back());
  }
  if (!values.empty()) sizes.rms_of_all = std::sqrt(squares / static_cast<double>(values.size()));
  return sizes;
}

// Bounds of the errors of the gradients.
//
// P, dS, O and the gradients are rounded to the type, each by up to `unit` of itself, and the scores' own
// error makes P differ by as much as that of O may (compare() in attention_run.cpp). Errors of a sum add up
// as their squares do, and so do its terms: the error of a gradient has the size of unit times that of its
// row, times 4 to 6 for the largest of many. What does not follow that size, because its terms cancel:
//
// - dS = P (dP - delta), delta = rowsum(dO O). Rounding O changes delta of a query by up to 3 standard
//   deviations of its sum, 3 unit sqrt(sum of (dO O)^2), and f32 adds up dP and delta to 2^-20 of |dO| |V|.
//   The weights P of a query add up to 1, so dQ has no more of it than scale times the largest of K. In dK
//   the errors of the queries, which are independent, add up by the root of the column's sum of P^2; as dV =
//   P^T dO, that is about the size of the row of dV against that of dO.
// - f16 below 2^-14 has a fixed distance, so each P and dS may also be off by 2^-25.
class GradientBounds {
 public:
  GradientBounds(const AttentionRequest& request, const reference::HostAttention& forward,
                 const reference::HostAttentionGradients& expected) {
    const AttentionProblem& p = request.problem;
    const std::vector<float> d_o = decoded(request.d_o, p.type), q = decoded(request.q, p.type),
                             k = decoded(request.k, p.type), v = decoded(request.v, p.type);
    const RowSizes of_d_o = row_sizes(d_o, p.value_dimension), of_q = row_sizes(q, p.head_dimension),
                   of_k = row_sizes(k, p.head_dimension), of_v = row_sizes(v, p.value_dimension);
    const double scale = std::abs(static_cast<double>(p.scale));
    double score = 0;
    for (const double sum : forward.log_sum_exp) {
      if (std::isfinite(sum)) score = std::max(score, std::abs(sum));
    }
    unit_ = (p.type == Type::f16 ? 0x1p-11 : 0x1p-8) + (score + 16) * 0x1p-19;
    smallest_ = p.type == Type::f16 ? 0x1p-25 : 0;

    const double f32 = 0x1p-20 * p.value_dimension * of_d_o.largest_rms * of_v.largest_rms;
    const auto dimension = static_cast<std::size_t>(p.value_dimension);
    double largest_delta = 0;
    const double of_a_sum = 4 * smallest_ * std::sqrt(static_cast<double>(p.keys)) * of_k.rms_of_all;
    for (std::size_t row = 0; row < d_o.size(); row += dimension) {
      double squares = 0;
      for (std::size_t i = row; i < row + dimension; ++i)
        squares += std::pow(forward.value[i] * static_cast<double>(d_o[i]), 2);
      const double delta = 3 * unit_ * std::sqrt(squares) + f32;
      largest_delta = std::max(largest_delta, delta);
      dq_.push_back(scale * (of_k.largest * delta + of_a_sum));
    }
    const double terms =
        std::sqrt(static_cast<double>(p.key_heads > 0 ? p.queries * (p.heads / p.key_heads) : 0));
    for (const double rms : row_sizes(expected.dv, p.value_dimension).rms) {
      const double weight = of_d_o.rms_of_all > 0 ? rms / of_d_o.rms_of_all : 0;
      dk_.push_back(scale *
                    (of_q.largest * largest_delta * weight + 4 * smallest_ * terms * of_q.rms_of_all));
      dv_.push_back(4 * smallest_ * terms * of_d_o.rms_of_all);
    }
  }

  BackwardCheck check(const reference::HostAttentionGradients& expected, const std::vector<float>& dq,
                      const std::vector<float>& dk, const std::vector<float>& dv) const {
    return {compare(dq, expected.dq, dq_), compare(dk, expected.dk, dk_), compare(dv, expected.dv, dv_)};
  }

 private:
  // of_cancelled: of each row, what does not follow its size.
  GradientCheck compare(const std::vector<float>& found, const std::vector<double>& wanted,
                        const std::vector<double>& of_cancelled) const {
    GradientCheck check;
    if (wanted.empty()) return check;
    const std::size_t dimension = wanted.size() / of_cancelled.size();
    const RowSizes sizes = row_sizes(wanted, static_cast<int>(dimension));
    double squares = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t row = i / dimension;
      const double error = std::abs(static_cast<double>(found.at(i)) - wanted[i]);
      const double bound = unit_ * (std::abs(wanted[i]) + 8 * sizes.rms[row] + 2 * sizes.rms_of_all) +
                           of_cancelled[row] + smallest_;
      raise_to(&check.max_error, error);
      if (error != 0) raise_to(&check.share_of_bound, error / bound);
      squares += error * error;
    }
    check.rms_error = std::sqrt(squares / static_cast<double>(wanted.size()));
    return check;
  }

  double unit_ = 0, smallest_ = 0;
  std::vector<double> dq_, dk_, dv_;  // of each row
};

}  // namespace

BackwardCheck check_gradients(const AttentionBackwardProblem& on_host, const AttentionRequest& request,
                              const std::vector<float>& dq, const std::vector<float>& dk,
                              const std::vector<float>& dv) {
  const reference::HostAttentionGradients expected = reference::attention_backward(on_host);
  return GradientBounds(request, reference::attention(on_host.forward), expected).check(expected, dq, dk, dv);
}

}  // namespace tenon::command
