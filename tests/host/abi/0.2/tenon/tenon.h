/* The C API: D = epilogue(alpha * A * B + beta * C) on tensor cores, with the reach of tenon/gemm.hpp.
 *
 *   tenon_gemm_problem p = tenon_gemm_problem_default();
 *   p.m = m; p.n = n; p.k = k;
 *   p.a = (tenon_const_matrix){.data = a, .ld = lda, .order = TENON_ROW_MAJOR, .type = TENON_F16};
 *   p.b = (tenon_const_matrix){.data = b, .ld = ldb, .order = TENON_COLUMN_MAJOR, .type = TENON_F16};
 *   p.c = (tenon_matrix){.data = c, .ld = ldc, .type = TENON_F32};
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

#include "tenon/c_attention.h"
#include "tenon/c_scaled.h"
#include "tenon/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has no `using` */

/* The version of this header. */
#define TENON_VERSION_MAJOR 0
#define TENON_VERSION_MINOR 2
#define TENON_VERSION_PATCH 0

/* A table of measured choices, as `tenon tune` writes it. tenon/tuning.hpp says for which problems it holds.
 */
typedef struct tenon_tuning tenon_tuning;

/* One product: A is m x k, B is k x n, C is m x n. The table in gemm.hpp has the combinations of types.
 * beta == 0 does not read C. k == 0 or alpha == 0 gives beta * C, and alpha == 0 does not read A and B. C and
 * the workspace may overlap neither A, B and the factors nor each other (gemm.hpp). Start from
 * tenon_gemm_problem_default(). */
typedef struct tenon_gemm_problem {
  size_t struct_bytes;
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

/* Where the matrices and vectors of one run lie. NULL: where the prepared problem has them. Start from
 * tenon_gemm_pointers_default(). */
typedef struct tenon_gemm_pointers {
  size_t struct_bytes;
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

/* What belongs to a group of a grouped product; gemm/problem_grouped.hpp says more. */
typedef enum tenon_group_layout {
  TENON_GROUPS_CONTIGUOUS = 0, /* rows sizes[g] up to sizes[g + 1] of A and C, which have m rows */
  TENON_GROUPS_MASKED = 1,     /* the first sizes[g] of the m rows from g * m on */
  TENON_GROUPS_DIVIDE_K = 2    /* k from sizes[g] up to sizes[g + 1]; each group has its own C */
} tenon_group_layout;

/* Many products in one launch, whose sizes are in device memory (gemm_grouped.hpp). Start from
 * tenon_gemm_grouped_problem_default(). */
typedef struct tenon_gemm_grouped_problem {
  size_t struct_bytes;
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
  size_t struct_bytes;
  const tenon_gemm_problem* problem; /* its matrices are those of problem 0; no tuning, no workspace */
  int64_t count;
  int64_t stride_a, stride_b, stride_c;
  const void* const* a_pointers; /* NULL: problem.a and stride_a say where A is */
  const void* const* b_pointers;
  void* const* c_pointers;
  int list_alignment; /* bytes: a promise about a_pointers and b_pointers; 0 promises their element's */
} tenon_gemm_batch;

/* NOLINTEND(modernize-use-using) */

/* The version of the library that is linked: "0.2.0". */
const char* tenon_version(void);

/* What a program starts from. The functions named _init() are those behind _default(), for languages that do
 * not compile this header: they write struct_bytes bytes, the size of the struct as the program has it. */

/* Everything zero except alpha = 1 and accumulate = TENON_F32. */
void tenon_gemm_problem_init(tenon_gemm_problem* problem, size_t struct_bytes);
static inline tenon_gemm_problem tenon_gemm_problem_default(void) {
  tenon_gemm_problem problem;
  tenon_gemm_problem_init(&problem, sizeof problem);
  return problem;
}

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

/* Everything zero. */
void tenon_gemm_pointers_init(tenon_gemm_pointers* pointers, size_t struct_bytes);
static inline tenon_gemm_pointers tenon_gemm_pointers_default(void) {
  tenon_gemm_pointers pointers;
  tenon_gemm_pointers_init(&pointers, sizeof pointers);
  return pointers;
}

/* Enqueues a prepared product, as tenon_gemm() would, and returns. pointers may be NULL. Threads may run the
 * same one at the same time. What is refused: gemm_prepared.hpp. */
tenon_status tenon_prepared_gemm_run(const tenon_prepared_gemm* prepared, const tenon_gemm_pointers* pointers,
                                     struct CUstream_st* stream);

/* The kernel that it launches first, valid while the library is loaded. NULL if there is none. */
const char* tenon_prepared_gemm_kernel_name(const tenon_prepared_gemm* prepared);

/* NULL has no effect. */
void tenon_prepared_gemm_free(tenon_prepared_gemm* prepared);

/* Everything zero except alpha = 1. */
void tenon_gemm_grouped_problem_init(tenon_gemm_grouped_problem* problem, size_t struct_bytes);
static inline tenon_gemm_grouped_problem tenon_gemm_grouped_problem_default(void) {
  tenon_gemm_grouped_problem problem;
  tenon_gemm_grouped_problem_init(&problem, sizeof problem);
  return problem;
}

/* As the functions above, for grouped products, which need no workspace. */
tenon_status tenon_gemm_grouped_can_implement(const tenon_gemm_grouped_problem* problem);
const char* tenon_gemm_grouped_kernel_name(const tenon_gemm_grouped_problem* problem);
tenon_status tenon_gemm_grouped(const tenon_gemm_grouped_problem* problem, struct CUstream_st* stream);

/* Everything zero. */
void tenon_gemm_batch_init(tenon_gemm_batch* batch, size_t struct_bytes);
static inline tenon_gemm_batch tenon_gemm_batch_default(void) {
  tenon_gemm_batch batch;
  tenon_gemm_batch_init(&batch, sizeof batch);
  return batch;
}

/* As the functions above, for a batch. */
tenon_status tenon_gemm_batched_can_implement(const tenon_gemm_batch* batch);
const char* tenon_gemm_batched_kernel_name(const tenon_gemm_batch* batch);
tenon_status tenon_gemm_batched(const tenon_gemm_batch* batch, struct CUstream_st* stream);

/* Reads a table that `tenon tune` wrote. Free *tuning with tenon_tuning_free(), after the last call that uses
 * it. On failure *tuning is NULL, and the message names the line of the file and what is wrong with it. */
tenon_status tenon_tuning_load(const char* path, tenon_tuning** tuning);

/* Frees a table. NULL has no effect. */
void tenon_tuning_free(tenon_tuning* tuning);

#ifdef __cplusplus
}
#endif

#endif
