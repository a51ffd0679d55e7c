// See cpu.hpp. The product is computed in blocks of a few rows by some hundred columns: small enough that the
// double accumulators stay in the first-level cache, wide enough that the inner loop over columns vectorises.
#include "reference/cpu.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "reference/float_bits.hpp"

namespace tenon::reference {
namespace {

constexpr std::int64_t block_rows = 4;
constexpr std::int64_t block_columns = 256;

float element(const HostMatrix& x, std::int64_t row, std::int64_t column) {
  return x.order == Order::row_major ? x.data[row * x.ld + column] : x.data[column * x.ld + row];
}

// B with dense, contiguous rows, whatever its original order.
std::vector<float> dense_rows(const HostMatrix& b, std::int64_t k, std::int64_t n) {
  std::vector<float> dense(static_cast<std::size_t>(k * n));
  for (std::int64_t column = 0; column < n; ++column) {
    for (std::int64_t p = 0; p < k; ++p) dense[p * n + column] = element(b, p, column);
  }
  return dense;
}

void multiply_block(const HostGemm& problem, std::int64_t k, const float* b, std::int64_t row,
                    std::int64_t column, HostResult& result) {
  const std::int64_t rows = std::min(block_rows, problem.m - row);
  const std::int64_t columns = std::min(block_columns, problem.n - column);
  double sum[block_rows][block_columns] = {};
  double magnitude[block_rows][block_columns] = {};
  for (std::int64_t p = 0; p < k; ++p) {
    const float* b_row = b + p * problem.n + column;
    for (std::int64_t i = 0; i < rows; ++i) {
      const double a = element(problem.a, row + i, p);
      for (std::int64_t j = 0; j < columns; ++j) sum[i][j] += a * b_row[j];
      if (problem.with_magnitude) {
        for (std::int64_t j = 0; j < columns; ++j) magnitude[i][j] += std::abs(a * b_row[j]);
      }
    }
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>((row + i) * problem.n + column + j);
      const double beta_c =
          problem.beta == 0.0F ? 0.0 : double{problem.beta} * problem.c[(row + i) * problem.ldc + column + j];
      // k == 0 must give beta * C even where alpha is infinite.
      result.value[at] = (k == 0 ? 0.0 : problem.alpha * sum[i][j]) + beta_c;
      if (problem.with_magnitude) {
        result.magnitude[at] = (k == 0 ? 0.0 : std::abs(problem.alpha) * magnitude[i][j]) + std::abs(beta_c);
      }
    }
  }
}

}  // namespace

HostResult gemm(const HostGemm& problem) {
  HostResult result;
  const auto size = static_cast<std::size_t>(problem.m * problem.n);
  result.value.resize(size);
  if (problem.with_magnitude) result.magnitude.resize(size);

  const std::int64_t k = problem.alpha == 0.0F ? 0 : problem.k;
  const std::vector<float> b = dense_rows(problem.b, k, problem.n);
  const std::int64_t blocks_down = (problem.m + block_rows - 1) / block_rows;
  const std::int64_t blocks_across = (problem.n + block_columns - 1) / block_columns;
  const std::int64_t blocks = blocks_down * blocks_across;

  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    // Vertically adjacent blocks run one after the other: they share the columns of B, the larger of the two
    // inputs.
    for (std::int64_t block = next++; block < blocks; block = next++) {
      multiply_block(problem, k, b.data(), block % blocks_down * block_rows,
                     block / blocks_down * block_columns, result);
    }
  };
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> helpers;
  for (std::int64_t i = 1; i < std::min(cores, blocks); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  return result;
}

namespace {

// to[i] = convert(from[i]); neither needs alignment.
template <class To, class From, class Convert>
void convert_all(const void* from, std::size_t count, void* to, const Convert& convert) {
  for (std::size_t i = 0; i < count; ++i) {
    From x;
    std::memcpy(&x, static_cast<const unsigned char*>(from) + i * sizeof x, sizeof x);
    const To y = convert(x);
    std::memcpy(static_cast<unsigned char*>(to) + i * sizeof y, &y, sizeof y);
  }
}

template <class Integer>
Integer integer_from_float(float value) noexcept {
  constexpr double low = std::numeric_limits<Integer>::min(), high = std::numeric_limits<Integer>::max();
  return std::isnan(value)
             ? Integer{0}
             : static_cast<Integer>(std::clamp(std::nearbyint(static_cast<double>(value)), low, high));
}

const SmallFloat& fp8_format(Type type) noexcept {
  return type == Type::e4m3 ? e4m3_format : e5m2_format;
}

}  // namespace

void encode(Type type, const float* values, std::size_t count, void* elements) noexcept {
  switch (type) {
    case Type::f16:
      return convert_all<std::uint16_t, float>(values, count, elements, f16_from_float);
    case Type::bf16:
      return convert_all<std::uint16_t, float>(values, count, elements, bf16_from_float);
    case Type::f32:
      return convert_all<float, float>(values, count, elements, [](float x) { return x; });
    case Type::tf32:
      return convert_all<std::uint32_t, float>(values, count, elements, tf32_from_float);
    case Type::e4m3:
    case Type::e5m2:
      return convert_all<std::uint8_t, float>(values, count, elements,
                                              [&](float x) { return small_from_float(x, fp8_format(type)); });
    case Type::s8:
      return convert_all<std::int8_t, float>(values, count, elements, integer_from_float<std::int8_t>);
    case Type::s32:
      return convert_all<std::int32_t, float>(values, count, elements, integer_from_float<std::int32_t>);
    case Type::f64:
      return convert_all<double, float>(values, count, elements,
                                        [](float x) { return static_cast<double>(x); });
  }
}

void decode(Type type, const void* elements, std::size_t count, float* values) noexcept {
  switch (type) {
    case Type::f16:
      return convert_all<float, std::uint16_t>(elements, count, values, float_from_f16);
    case Type::bf16:
      return convert_all<float, std::uint16_t>(elements, count, values, float_from_bf16);
    case Type::f32:
      return convert_all<float, float>(elements, count, values, [](float x) { return x; });
    case Type::tf32:
      return convert_all<float, std::uint32_t>(elements, count, values, float_from_tf32);
    case Type::e4m3:
    case Type::e5m2:
      return convert_all<float, std::uint8_t>(
          elements, count, values, [&](std::uint8_t x) { return float_from_small(x, fp8_format(type)); });
    case Type::s8:
      return convert_all<float, std::int8_t>(elements, count, values,
                                             [](std::int8_t x) { return static_cast<float>(x); });
    case Type::s32:
      return convert_all<float, std::int32_t>(elements, count, values,
                                              [](std::int32_t x) { return static_cast<float>(x); });
    case Type::f64:
      return convert_all<float, double>(elements, count, values,
                                        [](double x) { return static_cast<float>(x); });
  }
}

}  // namespace tenon::reference
