// The comparison of check.hpp, in bands of rows.
#include "command_line/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "command_line/exit_status.hpp"
#include "command_line/progress.hpp"
#include "gemm/split_parts.hpp"
#include "reference/activation.hpp"
#include "reference/cpu.hpp"

namespace tenon::command {
namespace {

constexpr double host_products = 0x1p27;         // about half a second on one core
constexpr std::int64_t band_elements = 1 << 21;  // 100 MB of DotProduct

void compare(double computed, double exact, double bound, Type type, std::int64_t row, std::int64_t column,
             CheckResult* result, double* worst_ratio) {
  const double error = error_of(computed, exact, bound, type);
  result->max_error = std::max(result->max_error, error);
  result->error_bound = std::max(result->error_bound, bound);
  // A NaN bound excuses nothing, and nothing excuses a NaN.
  const bool is_right = error == 0.0 || (error <= bound && !std::isnan(computed));
  if (!is_right) result->elements_ok = false;
  if (is_right && std::isinf(computed) && std::isfinite(exact)) ++result->overflowed;
  const double ratio = error == 0.0 ? 0.0 : error / bound;
  if (ratio > *worst_ratio) {
    *worst_ratio = ratio;
    result->row = row;
    result->column = column;
    result->computed = computed;
    result->exact = exact;
    result->bound = bound;
  }
}

// A row of A by a column of B, decoded, and scaled: each product by the scales of its factors.
DotProduct scaled_dot_product(const double* a, const double* b, std::int64_t k, const Gemm& problem,
                              const HostScales& scales, std::int64_t row, std::int64_t column) {
  DotProduct dot;
  for (std::int64_t i = 0; i < k; ++i) {
    const double x = a[i], y = b[i], s = scales.of(row, column, i);
    dot.add(x * y * s, aligned_magnitude(x, problem.a.type, y, problem.b.type) * s);
  }
  return dot;
}

// A row of A by a column of B, decoded.
DotProduct host_dot_product(const double* a, const double* b, std::int64_t k, const Gemm& problem) {
  DotProduct dot;
  const bool fp8 = is_fp8(problem.a.type);
  for (std::int64_t i = 0; i < k; ++i) {
    const double x = a[i], y = b[i];
    fp8 ? dot.add(x * y, aligned_magnitude(x, problem.a.type, y, problem.b.type)) : dot.add(x * y);
  }
  return dot;
}

// How the products of f32 operands are accumulated: those of their parts (Gemm::precision).
Summation summation_of(const Gemm& problem) {
  const Precision precision = problem.precision;
  if (precision == Precision::none) return problem;
  return {part_type(precision), problem.accumulate, promotes(precision)};
}

// Rounds f32 operands to the type in which they are multiplied, if that is one.
void round_as_multiplied(std::vector<double>* values, Precision precision) {
  if (precision == Precision::none || products_of(precision) > 1) return;
  const Type type = part_type(precision);
  std::vector<unsigned char> element(bytes(type));
  for (double& value : *values) {
    float x = static_cast<float>(value);
    reference::encode(type, &x, 1, element.data());
    reference::decode(type, element.data(), 1, &x);
    value = static_cast<double>(x);
  }
}

// What an element of C may lie off because f32 operands are multiplied in parts (gemm.hpp), beside the
// accumulators. magnitudes: the sum of those of the products.
double split_bound(Precision precision, double magnitudes) {
  switch (precision) {
    case Precision::bf16x3:
      return 0x1p-14 * magnitudes;
    case Precision::tf32x3:
      return 0x1p-21 * magnitudes;
    case Precision::bf16x6:
      return 0x1p-23 * magnitudes;
    default:
      return 0.0;
  }
}

double sum_of_magnitudes(const double* a, const double* b, std::int64_t k) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < k; ++i) sum += std::fabs(a[i] * b[i]);
  return sum;
}

// alpha * sum + beta * c modulo 2^32, of whole numbers. The sum is exact in FP64: below 2^53.
std::int32_t wrapped(const Gemm& problem, double sum, std::int32_t c) {
  const auto word = [](double x) { return static_cast<std::uint32_t>(static_cast<std::int64_t>(x)); };
  return static_cast<std::int32_t>(word(problem.alpha) * word(sum) +
                                   word(problem.beta) * static_cast<std::uint32_t>(c));
}

// The memory between the rows must be unchanged.
void check_gaps(const Operand& before, const Operand& after) {
  const std::size_t element = bytes(after.type);
  for (std::int64_t row = 0; row + 1 < after.rows; ++row) {
    const auto first =
        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row * after.ld + after.columns) * element);
    const auto last = static_cast<std::ptrdiff_t>(static_cast<std::size_t>((row + 1) * after.ld) * element);
    if (!std::equal(after.data.begin() + first, after.data.begin() + last, before.data.begin() + first)) {
      throw Failure(Exit::wrong_result, "the result is wrong: memory after row " + std::to_string(row) +
                                            " of C was written, but only its first " +
                                            std::to_string(after.columns) + " elements belong to C");
    }
  }
}

}  // namespace

CheckResult check(const Gemm& problem, const Operand& a, const Operand& b, const Operand& c_before,
                  const Operand& c_after, Device* cuda, Numbers numbers, double scale,
                  const HostEpilogue& epilogue) {
  CheckResult result;
  if (c_after.data.empty()) return result;
  check_gaps(c_before, c_after);

  const std::int64_t m = problem.m, n = problem.n;
  const std::int64_t k = problem.alpha == 0.0 ? 0 : problem.k;  // alpha == 0 does not look at A and B
  const bool on_host =
      cuda == nullptr || epilogue.scales != nullptr || problem.precision != Precision::none ||
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) <= host_products;
  std::vector<double> a_rows, b_columns;
  if (on_host && k > 0) {
    a_rows = decoded_f64(a, row_major);
    b_columns = decoded_f64(b, column_major);
    round_as_multiplied(&a_rows, problem.precision);
    round_as_multiplied(&b_columns, problem.precision);
  }
  const Summation summation = summation_of(problem);
  const bool in_parts = problem.precision != Precision::none && products_of(problem.precision) > 1;
  const std::int64_t depth = in_parts ? products_of(problem.precision) * k : k;  // as it is accumulated
  const bool in_s32 = problem.c.type == Type::s32, reads_c = problem.beta != 0.0;
  std::vector<double> computed, before;
  std::vector<std::int32_t> computed_s32, before_s32;
  if (in_s32) {
    computed_s32 = integers(c_after);
    if (reads_c) before_s32 = integers(c_before);
  } else {
    computed = decoded_f64(c_after, row_major);
    if (reads_c) before = decoded_f64(c_before, row_major);
  }

  const bool has_bias = !epilogue.bias.empty();
  const bool has_epilogue = has_bias || problem.epilogue.activation != Activation::none;
  const std::int64_t band = std::clamp<std::int64_t>(band_elements / n, 1, m);
  std::vector<DotProduct> dots;
  const auto factor = [&problem](double x) {  // as the kernel has it
    return problem.accumulate == Type::f64 ? x : static_cast<double>(static_cast<float>(x));
  };
  const double alpha = factor(problem.alpha) * scale, beta = factor(problem.beta);
  ErrorStatistics statistics(m, n, summation, depth, problem.c.type, alpha, beta);
  double worst_ratio = -1.0;
  Progress progress(on_host ? "check on the host" : "check on the device", m);
  for (std::int64_t first = 0; first < m; first += band) {
    const std::int64_t count = std::min(band, m - first);
    if (!on_host) device_dot_products(*cuda, problem, first, count, &dots);
    for (std::int64_t row = first; row < first + count; ++row) {
      for (std::int64_t column = 0; column < n; ++column) {
        const DotProduct dot =
            epilogue.scales != nullptr
                ? scaled_dot_product(a_rows.data() + row * k, b_columns.data() + column * k, k, problem,
                                     *epilogue.scales, row, column)
            : on_host ? host_dot_product(a_rows.data() + row * k, b_columns.data() + column * k, k, problem)
                      : dots[static_cast<std::size_t>((row - first) * n + column)];
        const std::size_t at = static_cast<std::size_t>(row * n + column);
        double element = 0.0, exact = 0.0, bound = 0.0, c = 0.0;
        if (in_s32) {
          element = static_cast<double>(computed_s32[at]);
          exact = static_cast<double>(wrapped(problem, dot.sum, reads_c ? before_s32[at] : 0));
        } else {
          element = computed[at];
          c = reads_c ? before[at] : 0.0;
          exact = (k == 0 ? 0.0 : alpha * dot.sum) + (reads_c ? beta * c : 0.0);
          bound = error_bound(dot, depth, summation, problem.c.type, alpha, beta, c, std::isfinite(element));
          if (in_parts) {
            bound += std::fabs(alpha) *
                     split_bound(problem.precision, sum_of_magnitudes(a_rows.data() + row * k,
                                                                      b_columns.data() + column * k, k));
          }
          if (has_epilogue) {
            const double addend =
                exact - (k == 0 ? 0.0 : alpha * dot.sum) +
                (has_bias ? static_cast<double>(epilogue.bias[static_cast<std::size_t>(column)]) : 0.0);
            const double pre = (k == 0 ? 0.0 : alpha * dot.sum) + addend;
            const double before =
                error_bound(dot, depth, summation, Type::f32, alpha, 1.0, addend, std::isfinite(element));
            const Activation activation = problem.epilogue.activation;
            exact = reference::activated(activation, pre);
            const double after = reference::activation_error(activation, pre, exact, before);
            bound = after + unit_roundoff(problem.c.type) * (std::fabs(exact) + after) +
                    half_least_subnormal(problem.c.type);
          }
        }
        compare(element, exact, bound, problem.c.type, row, column, &result, &worst_ratio);
        statistics.add(row, column, element, exact, dot, c);
      }
      progress.advance();
    }
  }
  result.relative_error = statistics.relative_error();
  result.bias = statistics.bias();
  result.relative_error_limit = statistics.relative_error_limit();
  // What parts lose is not in the statistics, whose limits are those of the accumulators.
  if (numbers == Numbers::random && !in_parts) result.verdict = statistics.verdict();
  result.ok = result.elements_ok && result.verdict.is_right();
  return result;
}

std::string fault_text(const CheckResult& result) {
  char sentence[256];
  const ErrorVerdict& verdict = result.verdict;
  const auto index = static_cast<long long>(verdict.index);
  if (!result.elements_ok) {
    std::snprintf(sentence, sizeof sentence, "C[%lld][%lld] is %.9g but must lie within %.3g of %.9g",
                  static_cast<long long>(result.row), static_cast<long long>(result.column), result.computed,
                  result.bound, result.exact);
    return sentence;
  }
  std::string subject = "C";
  if (verdict.group == ErrorGroup::row) subject = "row " + std::to_string(index) + " of C";
  if (verdict.group == ErrorGroup::column) subject = "column " + std::to_string(index) + " of C";
  std::snprintf(sentence, sizeof sentence,
                verdict.group == ErrorGroup::bias
                    ? " has a bias of %.3g but random numbers of these types allow at most %.3g"
                    : " has a relative error of %.3g but random numbers of these types allow at most %.3g",
                verdict.found, verdict.limit);
  return subject + sentence;
}

}  // namespace tenon::command
