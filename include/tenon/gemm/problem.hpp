// The problem of a GEMM: matrices and their product. Plain C++17. Below: types.hpp.
#pragma once

#include "tenon/gemm/types.hpp"
#include "tenon/ptx/standard.hpp"

// Forward declarations of the CUDA types, so that including this header costs nothing.
// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's, whose right it is to take reserved ones
struct __half;
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;
// NOLINTEND(bugprone-reserved-identifier)

namespace tenon {

// A device matrix. ld is the distance, in elements, between rows (row_major) or columns (column_major).
// Type::tf32 is for floats whose lowest 13 bits may be ignored; no pointer type implies it.
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
  constexpr ConstMatrix(const __nv_fp8_e4m3* d, std::int64_t l, Order o = row_major) noexcept
      : ConstMatrix(d, l, o, Type::e4m3) {}
  constexpr ConstMatrix(const __nv_fp8_e5m2* d, std::int64_t l, Order o = row_major) noexcept
      : ConstMatrix(d, l, o, Type::e5m2) {}
  constexpr ConstMatrix(const std::int8_t* d, std::int64_t l, Order o = row_major) noexcept
      : ConstMatrix(d, l, o, Type::s8) {}
  constexpr ConstMatrix(const double* d, std::int64_t l, Order o = row_major) noexcept
      : ConstMatrix(d, l, o, Type::f64) {}
};

// The result, always row-major.
struct Matrix {
  void* data = nullptr;
  std::int64_t ld = 0;
  Type type = Type::f16;

  constexpr Matrix() noexcept = default;
  constexpr Matrix(void* d, std::int64_t l, Type t) noexcept : data(d), ld(l), type(t) {}
  constexpr Matrix(__half* d, std::int64_t l) noexcept : Matrix(d, l, Type::f16) {}
  constexpr Matrix(__nv_bfloat16* d, std::int64_t l) noexcept : Matrix(d, l, Type::bf16) {}
  constexpr Matrix(float* d, std::int64_t l) noexcept : Matrix(d, l, Type::f32) {}
  constexpr Matrix(std::int32_t* d, std::int64_t l) noexcept : Matrix(d, l, Type::s32) {}
  constexpr Matrix(double* d, std::int64_t l) noexcept : Matrix(d, l, Type::f64) {}
};

// The largest m, n or k: kernels count rows and columns in 32 bits and may round them up to a tile.
inline constexpr std::int64_t largest_dimension = (std::int64_t{1} << 31) - 4096;

// C = A * B: A is m x k, B is k x n, C is m x n. An epilogue operation may change the accumulators before
// they are stored (epilogue.hpp).
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  ConstMatrix a, b;
  Matrix c;
  bool gated = false;  // the epilogue makes one element of two adjacent columns: C is m x n / 2
};

// The same with the element types of A, B and C as template arguments, for launch() (launch.hpp). The kernel
// determines the orders of A and B; C is row-major.
//
//   GemmProblem<half, half> problem;
//   problem.m = m, problem.n = n, problem.k = k;
//   problem.a = {x, ldx};   problem.b = {w, ldw};   problem.c = {y, ldy};
//
// ld: distance, in elements, between rows of a row-major matrix, or between columns of a column-major one.
template <class TA, class TC, class TB = TA>
struct GemmProblem {
  using TypeA = TA;
  using TypeB = TB;
  using TypeC = TC;
  template <class T>
  struct Operand {
    T* data = nullptr;
    std::int64_t ld = 0;
  };
  std::int64_t m = 0, n = 0, k = 0;
  Operand<const TA> a;
  Operand<const TB> b;
  Operand<TC> c;
};

// The order of the transpose.
constexpr Order flipped(Order order) noexcept {
  return order == row_major ? column_major : row_major;
}

// The product that computes C^T = B^T A^T: m and n, and A and B, are swapped. C is left as it was; the
// caller decides how to store the result.
constexpr Product with_swapped_operands(const Product& product) noexcept {
  Product swapped{product.n, product.m, product.k, product.b, product.a, product.c};
  swapped.a.order = flipped(product.b.order);
  swapped.b.order = flipped(product.a.order);
  return swapped;
}

}  // namespace tenon
