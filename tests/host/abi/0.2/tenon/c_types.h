/* The types of the C API that several of its problems share: element types, matrices, status, epilogue. Their
 * functions are in tenon.h. C99. Includes nothing of CUDA.
 *
 * A program that was compiled with these headers runs with every later library of the same SONAME (major and
 * minor version), without being compiled again:
 * - A struct that is handed over by its address begins with struct_bytes, its size in the program's headers.
 *   The functions named _default() set it. New fields come at the end; to a program that does not know them
 *   they are 0, which is what the library did before it had them.
 * - A struct inside another one keeps its size. New fields take the place of `reserved`, which must be 0:
 *   name the fields that you set, as {.data = a, .ld = lda}, and C sets the others to 0.
 * - Enumerators keep their numbers, and functions their parameters. */
#ifndef TENON_C_TYPES_H
#define TENON_C_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(modernize-use-using): C has no `using` */

struct CUstream_st; /* a cudaStream_t points to one */

typedef enum tenon_type {
  TENON_F16 = 0,
  TENON_BF16 = 1,
  TENON_F32 = 2,
  TENON_TF32 = 3, /* floats whose lowest 13 bits are ignored */
  TENON_E4M3 = 4,
  TENON_E5M2 = 5,
  TENON_S8 = 6,
  TENON_S32 = 7,
  TENON_F64 = 8
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
  int32_t reserved[2];
} tenon_const_matrix;

/* The result, always row-major. */
typedef struct tenon_matrix {
  void* data;
  int64_t ld;
  tenon_type type;
  int32_t reserved[3];
} tenon_matrix;

/* f32 scales in device memory. Of blocks: of A data[k / 128 * ld + row], of B data[column / 128 * ld + k /
 * 128]; data is a multiple of 16 bytes, ld one of 4. */
typedef struct tenon_scales {
  const float* data;
  int64_t ld;
  int32_t reserved[2];
} tenon_scales;

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
  int32_t reserved[3];
} tenon_const_vector;

/* What is fused into the product (gemm/epilogue_options.hpp):
 *   pre = row_scale[row] * column_scale[column] * alpha * (A * B) + beta * C + bias[column] + row_bias[row]
 *   result = activation(pre)
 *   D = scale_d * result
 * What is NULL takes no part. D may be e4m3, e5m2 or s8: its values saturate. */
typedef struct tenon_epilogue {
  tenon_activation activation;
  tenon_const_vector bias;     /* n elements */
  tenon_const_vector row_bias; /* m elements */
  const float* row_scale;      /* m factors */
  const float* column_scale;   /* n factors */
  tenon_matrix aux;            /* m x n: pre is written here; TENON_DRELU and TENON_DGELU read it */
  float lower, upper;          /* of TENON_CLAMP */
  /* Not 0: D is m x n / 2, and result(i, j) = activation(pre(i, 2j)) * pre(i, 2j + 1). */
  int gated;
  const float* scale_d; /* one factor */
  float* absmax;        /* one number, raised to the largest |result|: set it to 0 before */
  float* bias_gradient; /* n sums, to which the columns of result are added: set them to 0 before */
  void* reserved[8];
} tenon_epilogue;

/* NOLINTEND(modernize-use-using) */

#endif
