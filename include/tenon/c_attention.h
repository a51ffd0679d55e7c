/* The C API of attention, forward and backward. C99; tenon.h includes it, and says what holds for all
 * functions. */
#ifndef TENON_C_ATTENTION_H
#define TENON_C_ATTENTION_H

#include "tenon/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has no `using` */

/* A device tensor of batch x rows x heads x head dimension, which is contiguous. Strides in elements. */
typedef struct tenon_const_attention_tensor {
  const void* data;
  int64_t row_stride, head_stride, batch_stride;
  int32_t reserved[2];
} tenon_const_attention_tensor;
typedef struct tenon_attention_tensor {
  void* data;
  int64_t row_stride, head_stride, batch_stride;
  int32_t reserved[2];
} tenon_attention_tensor;

/* The pages of a pool that hold keys and values. table NULL: they are not paged. */
typedef struct tenon_attention_pages {
  const int32_t* table; /* device memory */
  int64_t table_stride;
  int32_t page_size; /* 1 to 256 keys */
  int32_t reserved;
  int64_t count;
} tenon_attention_pages;

/* Of a tensor of e4m3: a float for each batch and head of keys, in device memory; data may be NULL, which is
 * 1. */
typedef struct tenon_attention_scales {
  const float* data;
  int64_t head_stride, batch_stride;
  int32_t reserved[2];
} tenon_attention_scales;

/* O = softmax(scale * Q K^T) V: attention/problem.hpp says what each field means. Start from
 * tenon_attention_problem_default(). */
typedef struct tenon_attention_problem {
  size_t struct_bytes;
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
  size_t struct_bytes;
  /* With o and log_sum_exp as tenon_attention() left them, inputs now. kernel: NULL, or a name of
   * tenon_attention_backward_kernel_name(). */
  const tenon_attention_problem* forward;
  tenon_const_attention_tensor d_o;
  tenon_attention_tensor dq, dk, dv;
  void* workspace; /* 256-byte aligned, of tenon_attention_backward_workspace_size() bytes or more */
  size_t workspace_bytes;
  int deterministic; /* not 0: the same bits in each run */
} tenon_attention_backward_problem;

/* NOLINTEND(modernize-use-using) */

/* Everything zero except a window without limits. */
void tenon_attention_problem_init(tenon_attention_problem* problem, size_t struct_bytes);
TENON_INLINE tenon_attention_problem tenon_attention_problem_default(void) {
  tenon_attention_problem problem;
  tenon_attention_problem_init(&problem, sizeof problem);
  return problem;
}

/* As the functions of plain products. */
tenon_status tenon_attention_can_implement(const tenon_attention_problem* problem);
size_t tenon_attention_workspace_size(const tenon_attention_problem* problem);
const char* tenon_attention_kernel_name(const tenon_attention_problem* problem);
tenon_status tenon_attention(const tenon_attention_problem* problem, struct CUstream_st* stream);

/* The backward pass: attention_backward.hpp. Everything zero. */
void tenon_attention_backward_problem_init(tenon_attention_backward_problem* problem, size_t struct_bytes);
TENON_INLINE tenon_attention_backward_problem tenon_attention_backward_problem_default(void) {
  tenon_attention_backward_problem problem;
  tenon_attention_backward_problem_init(&problem, sizeof problem);
  return problem;
}
size_t tenon_attention_backward_workspace_size(const tenon_attention_backward_problem* problem);
tenon_status tenon_attention_backward_can_implement(const tenon_attention_backward_problem* problem);
const char* tenon_attention_backward_kernel_name(const tenon_attention_backward_problem* problem);
tenon_status tenon_attention_backward(const tenon_attention_backward_problem* problem,
                                      struct CUstream_st* stream);

#ifdef __cplusplus
}
#endif

#endif
