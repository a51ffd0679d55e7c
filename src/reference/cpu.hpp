// The product on the host, in double precision: the reference for every kernel's result.
//
// Operands are float arrays. An f16 or bf16 operand is decoded first, which is exact, so the reference sees
// the same numbers as the kernel; its only error is that of double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenon/gemm.hpp"

namespace tenon::reference {

// A host matrix. ld is the distance, in elements, between rows (row_major) or columns (column_major).
struct HostMatrix {
  const float* data = nullptr;
  std::int64_t ld = 0;
  Order order = Order::row_major;
};

// C = alpha * A * B + beta * C with tenon::Gemm's meaning: k == 0 or alpha == 0 gives beta * C, and beta == 0
// does not read C, which may then be null.
struct HostGemm {
  std::int64_t m = 0, n = 0, k = 0;
  HostMatrix a, b;
  const float* c = nullptr;  // row-major
  std::int64_t ldc = 0;
  float alpha = 1.0F, beta = 0.0F;
  bool with_magnitude = false;  // also compute HostResult::magnitude, for about twice the time
};

// Both are dense, row-major, m x n.
struct HostResult {
  std::vector<double> value;
  // |alpha| * sum |a||b| + |beta||c|: the scale of an element's rounding error. Empty unless requested.
  std::vector<double> magnitude;
};

// Adds in increasing k, so the result does not depend on the number of threads. Uses every core. Throws
// std::bad_alloc. Does not check the arguments, which must be valid.
HostResult gemm(const HostGemm& problem);

// Converts count floats to elements of a type (round to nearest even; integers and fp8 saturate), and back
// (exact except for integers above 2^24 and f64, which is rounded; for tf32 the lowest 13 bits are cleared,
// as the tensor core does).
void encode(Type type, const float* values, std::size_t count, void* elements) noexcept;
void decode(Type type, const void* elements, std::size_t count, float* values) noexcept;

}  // namespace tenon::reference
