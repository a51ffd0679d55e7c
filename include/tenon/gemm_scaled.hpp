// The host API of scaled products: fp8 operands whose elements stand for their value times a scale in device
// memory. quantize.hpp makes such operands.
//
//   tenon::ScaledGemm problem;
//   problem.m = m; problem.n = n; problem.k = k;
//   problem.a = {a, lda, tenon::row_major};        // e4m3
//   problem.b = {b, ldb, tenon::column_major};     // e4m3: n x k as PyTorch has weights
//   problem.c = {c, ldc};
//   problem.mode = tenon::ScaleMode::block_1x128_128x128;
//   problem.scale_a = {scales_of_a, ld_of_them};
//   problem.scale_b = {scales_of_b, ld_of_them};
//   if (tenon::Status s = tenon::gemm(problem, stream); !s) std::cerr << s.message();
//
// As with gemm.hpp, there is no hidden synchronisation, no exception, no state between calls, and no
// allocation. Link with tenon::tenon.
#pragma once

#include "tenon/gemm.hpp"
#include "tenon/gemm/scaled_problem.hpp"

namespace tenon {

// Which elements of an operand share a scale, by cuBLASLt's names for A and B:
//
//   per_tensor           SCALAR_32F     one scale of A, one of B: data[0]. ld is not used. Null stands for 1.
//   per_row_column       OUTER_VEC_32F  one scale for each row of A, data[row], and each column of B,
//                                       data[column]. ld is not used.
//   block_1x128_128x128  VEC128_32F,    one scale for each row of A and 128 of k, and one for each 128
//   columns
//                        BLK128x128_32F of B and 128 of k (DeepSeek-V3): BlockScales has the layout. The
//                                       accumulators leave the tensor core every 128 of k, so that this mode
//                                       is also the most accurate (Gemm::promote).
enum class ScaleMode : int { per_tensor = 0, per_row_column = 1, block_1x128_128x128 = 2 };

// C = alpha * A * B + beta * C, with A and B scaled. A is m x k, row-major; B is k x n, column-major; both
// begin on multiples of 16 bytes, and so do their rows (columns). C is f16, bf16 or f32. With block scales A
// and B are e4m3; otherwise each may be e5m2. per_tensor and per_row_column are gemm() with Gemm::scale_a and
// scale_b, or with EpilogueOptions::row_scale and column_scale.
//
// Sizes, C, alpha, beta and overlap are as in Gemm. C may not overlap the scales. Runs on sm_90.
//
// A scale is a finite number. NaN or infinity makes those elements of C NaN or infinite in whose sum it is a
// factor: it spreads along a row, a column or a block, not further.
struct ScaledGemm {
  std::int64_t m = 0, n = 0, k = 0;
  ConstMatrix a, b;
  Matrix c;
  float alpha = 1.0F, beta = 0.0F;
  ScaleMode mode = ScaleMode::per_tensor;
  BlockScales scale_a, scale_b;
  // nullptr: the library's choice. Otherwise the name of a kernel, as kernel_name() returns it.
  const char* kernel = nullptr;
  // As those of Gemm.
  int multiprocessors = 0;
  bool overlaps_previous = true;
};

// As the functions of gemm.hpp with the same names.
Status can_implement(const ScaledGemm& problem) noexcept;
const char* kernel_name(const ScaledGemm& problem) noexcept;
Status gemm(const ScaledGemm& problem, CUstream_st* stream = nullptr) noexcept;

}  // namespace tenon
