// The host API of products of f64 by int8 slices (Ozaki scheme II): exact int8 tensor-core products, as many
// as the accuracy asks for, in place of the slower arithmetic of f64.
//
//   tenon::SlicedGemm problem;
//   problem.m = m; problem.n = n; problem.k = k;
//   problem.a = {a, lda, tenon::row_major};
//   problem.b = {b, ldb, tenon::column_major};
//   problem.c = {c, ldc};
//   problem.workspace_bytes = tenon::workspace_size(problem);
//   cudaMalloc(&problem.workspace, problem.workspace_bytes);
//   if (tenon::Status s = tenon::gemm(problem, stream); !s) std::cerr << s.message();
//
// As with gemm.hpp, there is no hidden synchronisation, no exception, no state between calls, and no
// allocation. Link with tenon::tenon. Source: Ozaki, Uchino, Imamura, "Ozaki Scheme II: A GEMM-oriented
// emulation of floating-point matrix multiplication using an integer modular technique", 2025.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstddef>
#include <cstdint>

#include "tenon/gemm/types.hpp"
#include "tenon/status.hpp"

// Forward declaration of the CUDA type, so that including this header costs nothing.
struct CUstream_st;

namespace tenon {

// The least and the most slices, and with how many the error is that of an f64 product, or less, where the
// elements of a row (column) have similar magnitudes.
inline constexpr int least_slices = 4, most_slices = 16, slices_as_f64 = 15;

// C = alpha * A * B + beta * C in f64, A being m x k, B k x n, C m x n and row-major. Any m, n, k >= 0 that
// memory holds (with 16 slices m and n up to 2^27 - 256), any leading dimension that holds a row (or column),
// any pointer aligned to 8 bytes. beta == 0 does not read C. k == 0 or alpha == 0 gives beta * C; alpha == 0
// does not read A and B. Runs on sm_90.
//
// Each row of A and each column of B is multiplied by a power of two and rounded to integers of so many bits
// that the slices hold the product of the two exactly. The more slices, the more bits: an element x of a row
// of A with the largest magnitude max(A, i) is rounded by at most 2^-bits * max(A, i), bits as in
// slices_for(). So with elements far below the largest of their row (column) the result is less exact than
// that of f64 arithmetic: the error of an element of C is at most, relative to |alpha|,
//   (2^(1 - bits) + 2^(-2 bits)) * k * max(A, i) * max(B, j)
// beside the roundings of the last steps: to f64, times alpha, plus beta * C. Products of integers are exact
// if the largest of a row (column) has at most `bits` bits and the sum at most 53, and so are alpha = 1 and
// beta = 0. For k above 2^16 the product is the sum of several of 2^16, each rounded.
//
// An infinity or a NaN in a row of A (a column of B) makes that row (column) of C NaN.
struct SlicedGemm {
  struct Operand {
    const double* data = nullptr;
    std::int64_t ld = 0;  // elements, between rows (row_major) or columns (column_major)
    Order order = row_major;
  };
  struct Result {
    double* data = nullptr;
    std::int64_t ld = 0;
  };
  std::int64_t m = 0, n = 0, k = 0;
  Operand a, b;
  Result c;
  double alpha = 1.0, beta = 0.0;
  int slices = slices_as_f64;
  // Device memory of at least workspace_size(problem) bytes, 256-byte aligned: not optional. C and the
  // workspace may overlap neither each other nor A or B.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

// The fewest slices with which elements keep `bits` bits, from 1 to 62, below the largest magnitude of their
// row (column): half the logarithm of the largest integer that the slices hold over 2 k. 0 if most_slices are
// too few. For f64 with all of its bits (53) and k = 8192 the answer is 16.
int slices_for(int bits, std::int64_t k) noexcept;

// Whether gemm() can compute the problem on the current device, and if not, why. Reads no device memory.
Status can_implement(const SlicedGemm& problem) noexcept;

// Bytes of workspace of a problem: one for each slice and element of A, B and C, with m, n and k rounded up.
// 0 if there is no product to compute or the sizes or slices are invalid. Pointers are not looked at.
std::size_t workspace_size(const SlicedGemm& problem) noexcept;

// Enqueues the product on a stream of the current device and returns. If it fails, C is unchanged. (One
// exception: with k above 2^16, if a later launch fails where earlier ones did not.)
Status gemm(const SlicedGemm& problem, CUstream_st* stream = nullptr) noexcept;

}  // namespace tenon
