// See cpu.hpp. The product runs over blocks of a few rows by some hundred columns: small enough that the
// double sums stay in the first-level cache, wide enough that the inner loop over columns is one vector loop.
#include "reference/cpu.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "reference/float_bits.hpp"

namespace tenon::reference {
namespace {

constexpr std::int64_t block_rows = 4;
constexpr std::int64_t block_columns = 256;

float element(const HostMatrix& x, std::int64_t row, std::int64_t column) {
  return x.order == Order::row_major ? x.data[row * x.ld + column] : x.data[column * x.ld + row];
}

// B with its rows dense and contiguous, whatever its order was.
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
    // Blocks one below the other come next to each other: they share the columns of B, the larger of the two
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

void encode(Type type, const float* values, std::size_t count, void* elements) noexcept {
  if (type == Type::f32) {
    if (count != 0) std::memcpy(elements, values, count * sizeof(float));
    return;
  }
  auto* bits = static_cast<std::uint16_t*>(elements);
  for (std::size_t i = 0; i < count; ++i) {
    bits[i] = type == Type::f16 ? f16_from_float(values[i]) : bf16_from_float(values[i]);
  }
}

void decode(Type type, const void* elements, std::size_t count, float* values) noexcept {
  if (type == Type::f32) {
    if (count != 0) std::memcpy(values, elements, count * sizeof(float));
    return;
  }
  const auto* bits = static_cast<const std::uint16_t*>(elements);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = type == Type::f16 ? float_from_f16(bits[i]) : float_from_bf16(bits[i]);
  }
}

}  // namespace tenon::reference
