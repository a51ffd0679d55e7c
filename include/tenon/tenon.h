/* The C API: D = epilogue(alpha * A * B + beta * C) on tensor cores, with the reach of tenon/gemm.hpp.
 *
 *   tenon_gemm_problem p = tenon_gemm_problem_default();
 *   p.m = m; p.n = n; p.k = k;
 *   p.a = (tenon_const_matrix){a, lda, TENON_ROW_MAJOR, TENON_F16};
 *   p.b = (tenon_const_matrix){b, ldb, TENON_COLUMN_MAJOR, TENON_F16};
 *   p.c = (tenon_matrix){c, ldc, TENON_F32};
 *   tenon_status s = tenon_gemm(&p, stream);
 *   if (s.code != TENON_OK) fprintf(stderr, "%s\n", s.message);
 *
 * C99. No hidden synchronisation and no hidden allocation, except that the first call allocates host memory
 * for the list of kernels (gemm.hpp). Every function may be called from any thread. This header includes no
 * CUDA header: a stream is a cudaStream_t (CUstream), and NULL is the default stream. */
#ifndef TENON_TENON_H
#define TENON_TENON_H

#include <stddef.h>
#include <stdint.h>

#include "tenon/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has no `using` */

struct CUstream_st;

/* The version of this header. */
#define TENON_VERSION_MAJOR 0
#define TENON_VERSION_MINOR 1
#define TENON_VERSION_PATCH 0

/* A table of measured choices, as `tenon tune` writes it. tenon/tuning.hpp says for which problems it holds.
 */
typedef struct tenon_tuning tenon_tuning;

/* One product: A is m x k, B is k x n, C is m x n. The table in gemm.hpp has the combinations of types.
 * beta == 0 does not read C. k == 0 or alpha == 0 gives beta * C, and alpha == 0 does not read A and B. C and
 * the workspace may overlap neither A, B and the factors nor each other (gemm.hpp). Start from
 * tenon_gemm_problem_default(). */
typedef struct tenon_gemm_problem {
  int64_t m, n, k;
  tenon_const_matrix a, b;
  tenon_matrix c;
  double alpha, beta;      /* rounded to f32 unless the accumulators are f64 */
  tenon_matrix d;          /* where the result goes; all zero: to C */
  tenon_epilogue epilogue; /* all zero: nothing is fused */
  tenon_type accumulate; /* TENON_F32, or TENON_F16 with f16 inputs; TENON_S32 with s8, TENON_F64 with f64 */
  int promote;           /* bf16, tf32, fp8: if not 0, accumulators of 128 bytes of k are added in f32 */
  const float* scale_a;  /* fp8, s8 if C is not s32: a factor of A in device memory; NULL stands for 1 */
  const float* scale_b;  /* the same of B */
  const char* kernel;    /* NULL: the library chooses; otherwise a name that `tenon list` prints */
  const tenon_tuning* tuning; /* measured choices, where kernel is NULL; may be NULL */
  void* workspace;            /* device memory, 256-byte aligned, of workspace_bytes; may be NULL */
  size_t workspace_bytes;     /* tenon_gemm_workspace_size() says how many are fastest */
  tenon_precision precision;  /* A and B of TENON_F32: how they are multiplied; needs the workspace */
  int multiprocessors;        /* the most that the call uses; 0: all */
  int no_overlap;             /* if not 0, launches begin after what runs before them on the stream */
} tenon_gemm_problem;

/* A product that was prepared for a device: tenon/gemm_prepared.hpp. */
typedef struct tenon_prepared_gemm tenon_prepared_gemm;

/* Where the matrices and vectors of one run lie. NULL: where the prepared problem has them. */
typedef struct tenon_gemm_pointers {
  const void *a, *b;
  void *c, *d;
  void* workspace; /* of as many bytes as the prepared problem has */
  const float *scale_a, *scale_b;
  const void *bias, *row_bias; /* these and the rest: of the epilogue */
  const float *row_scale, *column_scale;
  void* aux;
  const float* scale_d;
  float *absmax, *bias_gradient;
} tenon_gemm_pointers;

/* Which elements of a scaled operand share a scale: tenon/gemm_scaled.hpp. */
typedef enum tenon_scale_mode {
  TENON_SCALE_PER_TENSOR = 0,
  TENON_SCALE_PER_ROW_COLUMN = 1,
  TENON_SCALE_BLOCK_1X128_128X128 = 2
} tenon_scale_mode;

/* f32 scales in device memory. Of blocks: of A data[k / 128 * ld + row], of B data[column / 128 * ld + k /
 * 128]; data is a multiple of 16 bytes, ld one of 4. */
typedef struct tenon_scales {
  const float* data;
  int64_t ld;
} tenon_scales;

/* One scaled product of fp8: tenon/gemm_scaled.hpp says what each field may be. Start from
 * tenon_scaled_gemm_problem_default(). */
typedef struct tenon_scaled_gemm_problem {
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

/* q = e4m3(x / scale), or of silu(x) * up: tenon/quantize.hpp. Zero-initialise it. */
typedef struct tenon_quantize_problem {
  int64_t rows, columns;
  tenon_const_matrix x, up; /* up.data may be NULL */
  tenon_matrix q;           /* TENON_E4M3 */
  tenon_scale_blocks blocks;
  float* scales;
  int64_t ld_scales;
} tenon_quantize_problem;

/* What belongs to a group of a grouped product; gemm/problem_grouped.hpp says more. */
typedef enum tenon_group_layout {
  TENON_GROUPS_CONTIGUOUS = 0, /* rows sizes[g] up to sizes[g + 1] of A and C, which have m rows */
  TENON_GROUPS_MASKED = 1,     /* the first sizes[g] of the m rows from g * m on */
  TENON_GROUPS_DIVIDE_K = 2    /* k from sizes[g] up to sizes[g + 1]; each group has its own C */
} tenon_group_layout;

/* Many products in one launch, whose sizes are in device memory (gemm_grouped.hpp). Start from
 * tenon_gemm_grouped_problem_default(). */
typedef struct tenon_gemm_grouped_problem {
  tenon_group_layout layout;
  int64_t groups, m, n, k;
  tenon_const_matrix a, b;
  int64_t b_stride; /* elements from the B of a group to the next; 0: all groups share one */
  tenon_matrix c;
  int64_t c_stride;     /* the same for C, with TENON_GROUPS_DIVIDE_K */
  const void* sizes;    /* integers in device memory: groups + 1, or groups if masked */
  int sizes_of_64_bits; /* if not 0, they have 64 bits, else 32 */
  float alpha, beta;
  int32_t* error;     /* device memory or NULL: becomes 1 + the first group that leaves its buffer */
  const char* kernel; /* NULL: the library chooses; otherwise a name of tenon_gemm_grouped_kernel_name() */
  tenon_scales scale_a, scale_b; /* A and B of TENON_E4M3: their blocks' scales; otherwise all zero */
  int64_t scale_b_stride;        /* values from the scales of a group's B to the next; 0: all share them */
  int multiprocessors;           /* as in tenon_gemm_problem, and so is no_overlap */
  int no_overlap;
} tenon_gemm_grouped_problem;

/* `count` products of the same sizes, types and leading dimensions in one launch (gemm_batched.hpp): A and B
 * in f16 or bf16, no `d`, no epilogue. Each matrix lies `stride` elements after that of the problem before (0
 * for A or B: all problems share it), or where a list of pointers in device memory says. Start from
 * tenon_gemm_batch_default(). */
typedef struct tenon_gemm_batch {
  tenon_gemm_problem problem; /* its matrices are those of problem 0; tuning and workspace are not used */
  int64_t count;
  int64_t stride_a, stride_b, stride_c;
  const void* const* a_pointers; /* NULL: problem.a and stride_a say where A is */
  const void* const* b_pointers;
  void* const* c_pointers;
  int list_alignment; /* bytes: a promise about a_pointers and b_pointers; 0 promises their element's */
} tenon_gemm_batch;

/* The slices with which products of f64 by int8 slices are about as exact as f64 arithmetic. */
#define TENON_SLICES_AS_F64 15

/* C = alpha * A * B + beta * C in f64 by int8 slices: tenon/gemm_f64_slices.hpp says what each field may be,
 * and how exact it is. Start from tenon_sliced_gemm_problem_default(). */
typedef struct tenon_sliced_gemm_problem {
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

/* A device tensor of batch x rows x heads x head dimension, which is contiguous. Strides in elements. */
typedef struct tenon_const_attention_tensor {
  const void* data;
  int64_t row_stride, head_stride, batch_stride;
} tenon_const_attention_tensor;
typedef struct tenon_attention_tensor {
  void* data;
  int64_t row_stride, head_stride, batch_stride;
} tenon_attention_tensor;

/* The pages of a pool that hold keys and values. table NULL: they are not paged. */
typedef struct tenon_attention_pages {
  const int32_t* table; /* device memory */
  int64_t table_stride;
  int page_size; /* 1 to 256 keys */
  int64_t count;
} tenon_attention_pages;

/* Of a tensor of e4m3: a float for each batch and head of keys, in device memory; data may be NULL, which is
 * 1. */
typedef struct tenon_attention_scales {
  const float* data;
  int64_t head_stride, batch_stride;
} tenon_attention_scales;

/* O = softmax(scale * Q K^T) V: attention/problem.hpp says what each field means. Start from
 * tenon_attention_problem_default(). */
typedef struct tenon_attention_problem {
  int64_t batch, heads, key_heads, queries, keys;
  int head_dimension, value_dimension;
  tenon_type type;        /* of Q, K, V: TENON_F16, TENON_BF16, TENON_E4M3; but for e4m3, of O */
  tenon_type output_type; /* of O where type is TENON_E4M3: TENON_F16 or TENON_BF16 */
  tenon_const_attention_tensor q, k, v;
  tenon_attention_tensor o;
  float* log_sum_exp; /* device memory, batch x heads x queries; may be NULL */
  float scale;
  int left, right;           /* of the window; negative: no limit. Causal: -1, 0 */
  float soft_cap;            /* 0: none */
  const float* alibi_slopes; /* device memory, of each head; may be NULL */
  const float* sinks;        /* likewise */
  const int32_t *query_offsets, *key_offsets, *key_lengths; /* device memory; each may be NULL */
  int64_t query_rows, key_rows;                             /* 0 without the offsets */
  tenon_attention_pages pages;
  int32_t* error; /* device memory, may be NULL: 1 where lengths or pages were out of range */
  tenon_attention_scales q_scales, k_scales, v_scales; /* where type is TENON_E4M3 */
  const char* kernel;     /* NULL: the library chooses; otherwise a name of tenon_attention_kernel_name() */
  void* workspace;        /* device memory, 256-byte aligned, of workspace_bytes; may be NULL */
  size_t workspace_bytes; /* tenon_attention_workspace_size() says how many are fastest */
} tenon_attention_problem;

/* The gradients by Q, K and V from dO: attention/backward_problem.hpp says what each field means. */
typedef struct tenon_attention_backward_problem {
  /* With o and log_sum_exp as tenon_attention() left them, inputs now. kernel: NULL, or a name of
   * tenon_attention_backward_kernel_name(). */
  tenon_attention_problem forward;
  tenon_const_attention_tensor d_o;
  tenon_attention_tensor dq, dk, dv;
  void* workspace; /* 256-byte aligned, of tenon_attention_backward_workspace_size() bytes or more */
  size_t workspace_bytes;
  int deterministic; /* not 0: the same bits in each run */
} tenon_attention_backward_problem;

/* NOLINTEND(modernize-use-using) */

/* The version of the library that is linked: "0.1.0". */
const char* tenon_version(void);

/* Everything zero except alpha = 1 and accumulate = TENON_F32. */
tenon_gemm_problem tenon_gemm_problem_default(void);

/* Whether tenon_gemm() can compute the problem on the current device, and if not, why. Reads no device
 * memory. */
tenon_status tenon_gemm_can_implement(const tenon_gemm_problem* problem);

/* Bytes of workspace with which the problem runs fastest on the current device. 0 for most problems, and for
 * problems that cannot run. It may be called before anything is allocated: a matrix whose pointer is NULL
 * counts as one that begins on a multiple of 256 bytes. */
size_t tenon_gemm_workspace_size(const tenon_gemm_problem* problem);

/* The kernel that tenon_gemm() would launch first, as a string that is never freed. NULL if there is none. */
const char* tenon_gemm_kernel_name(const tenon_gemm_problem* problem);

/* Enqueues the product on a stream of the current device and returns. If it fails, C is unchanged. If the
 * device refuses the kernel that the library chose, the next best one is launched (gemm.hpp). */
tenon_status tenon_gemm(const tenon_gemm_problem* problem, struct CUstream_st* stream);

/* Decides once how the problem is computed on the current device; matrices may still be NULL. Free *prepared
 * with tenon_prepared_gemm_free() after the last run has been enqueued. On failure *prepared is NULL. */
tenon_status tenon_gemm_prepare(const tenon_gemm_problem* problem, tenon_prepared_gemm** prepared);

/* Enqueues a prepared product, as tenon_gemm() would, and returns. pointers may be NULL. Threads may run the
 * same one at the same time. What is refused: gemm_prepared.hpp. */
tenon_status tenon_prepared_gemm_run(const tenon_prepared_gemm* prepared, const tenon_gemm_pointers* pointers,
                                     struct CUstream_st* stream);

/* The kernel that it launches first, valid while the library is loaded. NULL if there is none. */
const char* tenon_prepared_gemm_kernel_name(const tenon_prepared_gemm* prepared);

/* NULL has no effect. */
void tenon_prepared_gemm_free(tenon_prepared_gemm* prepared);

/* Everything zero except alpha = 1. */
tenon_gemm_grouped_problem tenon_gemm_grouped_problem_default(void);

/* As the functions above, for grouped products, which need no workspace. */
tenon_status tenon_gemm_grouped_can_implement(const tenon_gemm_grouped_problem* problem);
const char* tenon_gemm_grouped_kernel_name(const tenon_gemm_grouped_problem* problem);
tenon_status tenon_gemm_grouped(const tenon_gemm_grouped_problem* problem, struct CUstream_st* stream);

/* tenon_gemm_problem_default(), and everything else zero. */
tenon_gemm_batch tenon_gemm_batch_default(void);

/* As the functions above, for a batch. */
tenon_status tenon_gemm_batched_can_implement(const tenon_gemm_batch* batch);
const char* tenon_gemm_batched_kernel_name(const tenon_gemm_batch* batch);
tenon_status tenon_gemm_batched(const tenon_gemm_batch* batch, struct CUstream_st* stream);

/* Reads a table that `tenon tune` wrote. Free *tuning with tenon_tuning_free(), after the last call that uses
 * it. On failure *tuning is NULL, and the message names the line of the file and what is wrong with it. */
tenon_status tenon_tuning_load(const char* path, tenon_tuning** tuning);

/* Frees a table. NULL has no effect. */
void tenon_tuning_free(tenon_tuning* tuning);

/* Everything zero except alpha = 1, and A and B in TENON_E4M3, B column-major. */
tenon_scaled_gemm_problem tenon_scaled_gemm_problem_default(void);

/* As the functions of plain products. */
tenon_status tenon_scaled_gemm_can_implement(const tenon_scaled_gemm_problem* problem);
const char* tenon_scaled_gemm_kernel_name(const tenon_scaled_gemm_problem* problem);
tenon_status tenon_scaled_gemm(const tenon_scaled_gemm_problem* problem, struct CUstream_st* stream);

/* Everything zero except alpha = 1 and slices = TENON_SLICES_AS_F64. */
tenon_sliced_gemm_problem tenon_sliced_gemm_problem_default(void);

/* The fewest slices with which elements keep so many bits below the largest of their row of A (column of B).
 * 0 if 16 are too few. */
int tenon_slices_for(int bits, int64_t k);

/* As the functions of plain products. The workspace is not optional. */
tenon_status tenon_sliced_gemm_can_implement(const tenon_sliced_gemm_problem* problem);
size_t tenon_sliced_gemm_workspace_size(const tenon_sliced_gemm_problem* problem);
tenon_status tenon_sliced_gemm(const tenon_sliced_gemm_problem* problem, struct CUstream_st* stream);

/* Everything zero except a window without limits. */
tenon_attention_problem tenon_attention_problem_default(void);

/* As the functions of plain products. */
tenon_status tenon_attention_can_implement(const tenon_attention_problem* problem);
size_t tenon_attention_workspace_size(const tenon_attention_problem* problem);
const char* tenon_attention_kernel_name(const tenon_attention_problem* problem);
tenon_status tenon_attention(const tenon_attention_problem* problem, struct CUstream_st* stream);

/* The backward pass: attention_backward.hpp. `forward` is that of tenon_attention_problem_default(), the rest
 * zero. */
tenon_attention_backward_problem tenon_attention_backward_problem_default(void);
size_t tenon_attention_backward_workspace_size(const tenon_attention_backward_problem* problem);
tenon_status tenon_attention_backward_can_implement(const tenon_attention_backward_problem* problem);
const char* tenon_attention_backward_kernel_name(const tenon_attention_backward_problem* problem);
tenon_status tenon_attention_backward(const tenon_attention_backward_problem* problem,
                                      struct CUstream_st* stream);

/* Enqueues the quantisation on a stream of the current device and returns. If it fails, nothing was written.
 */
tenon_status tenon_quantize(const tenon_quantize_problem* problem, struct CUstream_st* stream);

#ifdef __cplusplus
}
#endif

#endif
