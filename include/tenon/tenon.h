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

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has no `using` */

struct CUstream_st;

/* The version of this header. */
#define TENON_VERSION_MAJOR 0
#define TENON_VERSION_MINOR 1
#define TENON_VERSION_PATCH 0

typedef enum tenon_type {
  TENON_F16 = 0,
  TENON_BF16 = 1,
  TENON_F32 = 2,
  TENON_TF32 = 3, /* floats whose lowest 13 bits are ignored */
  TENON_E4M3 = 4,
  TENON_E5M2 = 5,
  TENON_S8 = 6,
  TENON_S32 = 7
} tenon_type;
/* How A and B of TENON_F32 are multiplied: tenon::Precision of tenon/gemm/types.hpp. */
typedef enum tenon_precision {
  TENON_PRECISION_NONE = 0,
  TENON_PRECISION_TF32 = 1,
  TENON_PRECISION_F16 = 2,
  TENON_PRECISION_BF16 = 3,
  TENON_PRECISION_BF16X3 = 4,
  TENON_PRECISION_BF16X6 = 5,
  TENON_PRECISION_TF32X3 = 6
} tenon_precision;
typedef enum tenon_order { TENON_ROW_MAJOR = 0, TENON_COLUMN_MAJOR = 1 } tenon_order;

typedef enum tenon_status_code {
  TENON_OK = 0,
  TENON_INVALID_ARGUMENT = 1,    /* the problem is wrong: negative size, null pointer, short ld, overlap */
  TENON_UNSUPPORTED = 2,         /* a valid problem that no kernel (or not the named one) computes */
  TENON_DEVICE_UNSUPPORTED = 3,  /* no device, no driver, no such architecture, or a refused launch */
  TENON_WORKSPACE_TOO_SMALL = 4, /* call again with at least the bytes that the message names */
  TENON_CUDA_ERROR = 5           /* the CUDA runtime reported an error; the message carries its text */
} tenon_status_code;

/* A code for programs and a sentence for people ("" when ok). It holds its text: there is nothing to free. */
typedef struct tenon_status {
  tenon_status_code code;
  char message[256];
} tenon_status;

/* A device matrix. ld is the distance, in elements, between rows (row-major) or columns (column-major). */
typedef struct tenon_const_matrix {
  const void* data;
  int64_t ld;
  tenon_order order;
  tenon_type type; /* the same for A and B, except fp8; TENON_F32 with a precision only; not TENON_S32 */
} tenon_const_matrix;

/* The result, always row-major. */
typedef struct tenon_matrix {
  void* data;
  int64_t ld;
  tenon_type type;
} tenon_matrix;

/* The function that an epilogue applies to each element; gemm/epilogue_options.hpp defines each. */
typedef enum tenon_activation {
  TENON_NONE = 0,
  TENON_RELU = 1,
  TENON_GELU = 2, /* the approximation with tanh, as cuBLASLt's GELU */
  TENON_GELU_ERF = 3,
  TENON_SILU = 4,
  TENON_CLAMP = 5, /* at least lower, at most upper */
  TENON_DRELU = 6, /* these two read the pre-activation from aux */
  TENON_DGELU = 7
} tenon_activation;

/* A dense vector of f32, f16 or bf16 in device memory. NULL: there is none. */
typedef struct tenon_const_vector {
  const void* data;
  tenon_type type;
} tenon_const_vector;

/* What is fused into the product (gemm/epilogue_options.hpp):
 *   pre = row_scale[row] * column_scale[column] * alpha * (A * B) + beta * C + bias[column] + row_bias[row]
 *   D = activation(pre)
 * What is NULL takes no part. */
typedef struct tenon_epilogue {
  tenon_activation activation;
  tenon_const_vector bias;     /* n elements */
  tenon_const_vector row_bias; /* m elements */
  const float* row_scale;      /* m factors */
  const float* column_scale;   /* n factors */
  tenon_matrix aux;            /* m x n: pre is written here; TENON_DRELU and TENON_DGELU read it */
  float lower, upper;          /* of TENON_CLAMP */
} tenon_epilogue;

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
  float alpha, beta;
  tenon_matrix d;             /* where the result goes; all zero: to C */
  tenon_epilogue epilogue;    /* all zero: nothing is fused */
  tenon_type accumulate;      /* TENON_F32, or TENON_F16 with f16 inputs; TENON_S32 with s8 inputs */
  int promote;                /* bf16, tf32, fp8: if not 0, accumulators of 128 bytes of k are added in f32 */
  const float* scale_a;       /* fp8: a factor of A in device memory; NULL stands for 1 */
  const float* scale_b;       /* the same of B */
  const char* kernel;         /* NULL: the library chooses; otherwise a name that `tenon list` prints */
  const tenon_tuning* tuning; /* measured choices, where kernel is NULL; may be NULL */
  void* workspace;            /* device memory, 256-byte aligned, of workspace_bytes; may be NULL */
  size_t workspace_bytes;     /* tenon_gemm_workspace_size() says how many are fastest */
  tenon_precision precision;  /* A and B of TENON_F32: how they are multiplied; needs the workspace */
} tenon_gemm_problem;

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

/* Reads a table that `tenon tune` wrote. Free *tuning with tenon_tuning_free(), after the last call that uses
 * it. On failure *tuning is NULL, and the message names the line of the file and what is wrong with it. */
tenon_status tenon_tuning_load(const char* path, tenon_tuning** tuning);

/* Frees a table. NULL has no effect. */
void tenon_tuning_free(tenon_tuning* tuning);

#ifdef __cplusplus
}
#endif

#endif
