// The host API: C = alpha * A * B + beta * C on tensor cores.
//
//   tenon::Gemm problem;
//   problem.m = m; problem.n = n; problem.k = k;
//   problem.a = {a, lda, tenon::row_major};        // the element type follows from the pointer
//   problem.b = {b, ldb, tenon::column_major};
//   problem.c = {c, ldc};
//   if (tenon::Status s = tenon::gemm(problem, stream); !s) std::cerr << s.message();
//
// No hidden allocation, no hidden synchronisation, no global state, no exception. Link with tenon::tenon.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenon/gemm/types.hpp"
#include "tenon/status.hpp"

// Forward declarations of the CUDA types, so that including this header costs nothing.
struct CUstream_st;
// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's, whose right it is to take reserved ones
struct __half;
struct __nv_bfloat16;
// NOLINTEND(bugprone-reserved-identifier)

namespace tenon {

// A device matrix. ld is the distance, in elements, between rows (row_major) or columns (column_major).
struct ConstMatrix {
  const void* data = nullptr;
  std::int64_t ld = 0;
  Order order = Order::row_major;
  Type type = Type::f16;

  constexpr ConstMatrix() noexcept = default;
  constexpr ConstMatrix(const void* d, std::int64_t l, Order o, Type t) noexcept
      : data(d), ld(l), order(o), type(t) {}
  constexpr ConstMatrix(const __half* d, std::int64_t l, Order o = row_major) noexcept
      : ConstMatrix(d, l, o, Type::f16) {}
  constexpr ConstMatrix(const __nv_bfloat16* d, std::int64_t l, Order o = row_major) noexcept
      : ConstMatrix(d, l, o, Type::bf16) {}
};

// The result: row-major always.
struct Matrix {
  void* data = nullptr;
  std::int64_t ld = 0;
  Type type = Type::f16;

  constexpr Matrix() noexcept = default;
  constexpr Matrix(void* d, std::int64_t l, Type t) noexcept : data(d), ld(l), type(t) {}
  constexpr Matrix(__half* d, std::int64_t l) noexcept : Matrix(d, l, Type::f16) {}
  constexpr Matrix(__nv_bfloat16* d, std::int64_t l) noexcept : Matrix(d, l, Type::bf16) {}
  constexpr Matrix(float* d, std::int64_t l) noexcept : Matrix(d, l, Type::f32) {}
};

// One product. A is m x k, B is k x n, C is m x n.
//
// Any m, n, k >= 0 (up to 2^31 - 4096), any leading dimension that holds a row (or column), any pointer
// aligned to its element. beta == 0 does not read C (NaN there does not spread). k == 0 or alpha == 0 gives
// beta * C. C may not overlap A or B. A and B have the same type (f16 or bf16); C is f16, bf16 or f32.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  ConstMatrix a, b;
  Matrix c;
  float alpha = 1.0F, beta = 0.0F;
  // f32, or f16 (inputs f16 only): the precision in which products are summed.
  Type accumulate = Type::f32;
  // nullptr: the documented choice (src/gemm/select.hpp). Else a name that `tenon list` prints.
  const char* kernel = nullptr;
  // Device memory of at least workspace_size(problem) bytes, 256-byte aligned; may be null. Without it the
  // problem is still computed, by a path that may be slower (operands that cannot be copied 16 bytes at a
  // time).
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

// Whether gemm() can compute the problem on the current device, and if not why. Touches no device memory.
Status can_implement(const Gemm& problem) noexcept;

// Bytes of workspace with which gemm() runs this problem fastest on the current device; 0 for most problems.
std::size_t workspace_size(const Gemm& problem) noexcept;

// The kernel that gemm() would run for the problem on the current device; nullptr if can_implement() fails or
// there is no product to compute (m, n or k is 0, or alpha is).
const char* kernel_name(const Gemm& problem) noexcept;

// Enqueues the product on the stream of the current device and returns. On failure nothing was launched or
// written.
Status gemm(const Gemm& problem, CUstream_st* stream = nullptr) noexcept;

}  // namespace tenon
