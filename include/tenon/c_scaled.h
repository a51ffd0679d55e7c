/* The C API of products with scales: fp8 by scales of f32, its quantisation, and f64 by slices of int8. C99;
 * tenon.h includes it, and says what holds for all functions. */
#ifndef TENON_C_SCALED_H
#define TENON_C_SCALED_H

#include "tenon/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has no `using` */

/* Which elements of a scaled operand share a scale: tenon/gemm_scaled.hpp. */
typedef enum tenon_scale_mode {
  TENON_SCALE_PER_TENSOR = 0,
  TENON_SCALE_PER_ROW_COLUMN = 1,
  TENON_SCALE_BLOCK_1X128_128X128 = 2
} tenon_scale_mode;

/* One scaled product of fp8: tenon/gemm_scaled.hpp says what each field may be. Start from
 * tenon_scaled_gemm_problem_default(). */
typedef struct tenon_scaled_gemm_problem {
  size_t struct_bytes;
  int64_t m, n, k;
  tenon_const_matrix a, b;
  tenon_matrix c;
  float alpha, beta;
  tenon_scale_mode mode;
  tenon_scales scale_a, scale_b;
  const char* kernel;  /* NULL: the library chooses */
  int multiprocessors; /* as in tenon_gemm_problem, and so is no_overlap */
  int no_overlap;
} tenon_scaled_gemm_problem;

/* Which elements share a scale that tenon_quantize() writes: tenon/quantize.hpp. */
typedef enum tenon_scale_blocks {
  TENON_SCALES_PER_TENSOR = 0,
  TENON_SCALES_PER_ROW = 1,
  TENON_SCALES_BLOCK_1X128 = 2,
  TENON_SCALES_BLOCK_128X128 = 3
} tenon_scale_blocks;

/* q = e4m3(x / scale), or of silu(x) * up: tenon/quantize.hpp. Start from tenon_quantize_problem_default().
 */
typedef struct tenon_quantize_problem {
  size_t struct_bytes;
  int64_t rows, columns;
  tenon_const_matrix x, up; /* up.data may be NULL */
  tenon_matrix q;           /* TENON_E4M3 */
  tenon_scale_blocks blocks;
  float* scales;
  int64_t ld_scales;
} tenon_quantize_problem;

/* The slices with which products of f64 by int8 slices are about as exact as f64 arithmetic. */
#define TENON_SLICES_AS_F64 15

/* C = alpha * A * B + beta * C in f64 by int8 slices: tenon/gemm_f64_slices.hpp says what each field may be,
 * and how exact it is. Start from tenon_sliced_gemm_problem_default(). */
typedef struct tenon_sliced_gemm_problem {
  size_t struct_bytes;
  int64_t m, n, k;
  const double* a;
  int64_t lda;
  tenon_order order_a;
  const double* b;
  int64_t ldb;
  tenon_order order_b;
  double* c; /* row-major */
  int64_t ldc;
  double alpha, beta;
  int slices;      /* 4 to 16 */
  void* workspace; /* device memory, 256-byte aligned, of tenon_sliced_gemm_workspace_size() bytes */
  size_t workspace_bytes;
} tenon_sliced_gemm_problem;

/* NOLINTEND(modernize-use-using) */

/* Everything zero except alpha = 1, and A and B in TENON_E4M3, B column-major. */
void tenon_scaled_gemm_problem_init(tenon_scaled_gemm_problem* problem, size_t struct_bytes);
TENON_INLINE tenon_scaled_gemm_problem tenon_scaled_gemm_problem_default(void) {
  tenon_scaled_gemm_problem problem;
  tenon_scaled_gemm_problem_init(&problem, sizeof problem);
  return problem;
}

/* As the functions of plain products. */
tenon_status tenon_scaled_gemm_can_implement(const tenon_scaled_gemm_problem* problem);
const char* tenon_scaled_gemm_kernel_name(const tenon_scaled_gemm_problem* problem);
tenon_status tenon_scaled_gemm(const tenon_scaled_gemm_problem* problem, struct CUstream_st* stream);

/* Everything zero except alpha = 1 and slices = TENON_SLICES_AS_F64. */
void tenon_sliced_gemm_problem_init(tenon_sliced_gemm_problem* problem, size_t struct_bytes);
TENON_INLINE tenon_sliced_gemm_problem tenon_sliced_gemm_problem_default(void) {
  tenon_sliced_gemm_problem problem;
  tenon_sliced_gemm_problem_init(&problem, sizeof problem);
  return problem;
}

/* The fewest slices with which elements keep so many bits below the largest of their row of A (column of B).
 * 0 if 16 are too few. */
int tenon_slices_for(int bits, int64_t k);

/* As the functions of plain products. The workspace is not optional. */
tenon_status tenon_sliced_gemm_can_implement(const tenon_sliced_gemm_problem* problem);
size_t tenon_sliced_gemm_workspace_size(const tenon_sliced_gemm_problem* problem);
tenon_status tenon_sliced_gemm(const tenon_sliced_gemm_problem* problem, struct CUstream_st* stream);

/* Everything zero. */
void tenon_quantize_problem_init(tenon_quantize_problem* problem, size_t struct_bytes);
TENON_INLINE tenon_quantize_problem tenon_quantize_problem_default(void) {
  tenon_quantize_problem problem;
  tenon_quantize_problem_init(&problem, sizeof problem);
  return problem;
}

/* Enqueues the quantisation on a stream of the current device and returns. If it fails, nothing was written.
 */
tenon_status tenon_quantize(const tenon_quantize_problem* problem, struct CUstream_st* stream);

#ifdef __cplusplus
}
#endif

#endif
