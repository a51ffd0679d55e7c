/* tenon.h as a C99 program sees it; c_api_test.cpp calls these functions and judges. */
#include "tenon/tenon.h"

tenon_status c_multiply(int64_t m, int64_t n, int64_t k, const void* a, const void* b, void* c, int64_t lda);
tenon_status c_null(void);
int c_defaults_are_right(void);

tenon_status c_multiply(int64_t m, int64_t n, int64_t k, const void* a, const void* b, void* c, int64_t lda) {
  tenon_gemm_problem p = tenon_gemm_problem_default();
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = (tenon_const_matrix){.data = a, .ld = lda, .order = TENON_ROW_MAJOR, .type = TENON_BF16};
  p.b = (tenon_const_matrix){.data = b, .ld = k, .order = TENON_COLUMN_MAJOR, .type = TENON_BF16};
  p.c = (tenon_matrix){.data = c, .ld = n, .type = TENON_F32};
  if (tenon_gemm_can_implement(&p).code != TENON_OK && tenon_gemm_kernel_name(&p) != NULL) {
    tenon_status contradiction = {TENON_CUDA_ERROR, "a problem that cannot run has a kernel"};
    return contradiction;
  }
  return tenon_gemm(&p, NULL);
}

tenon_status c_null(void) {
  return tenon_gemm(NULL, NULL);
}

int c_defaults_are_right(void) {
  const tenon_gemm_problem p = tenon_gemm_problem_default();
  const tenon_gemm_grouped_problem q = tenon_gemm_grouped_problem_default();
  if (q.groups != 0 || q.sizes != NULL || q.error != NULL || q.kernel != NULL || q.alpha != 1.0F ||
      q.beta != 0.0F)
    return 0;
  return p.m == 0 && p.n == 0 && p.k == 0 && p.a.data == NULL && p.b.data == NULL && p.c.data == NULL &&
         p.alpha == 1.0F && p.beta == 0.0F && p.accumulate == TENON_F32 && p.promote == 0 &&
         p.scale_a == NULL && p.scale_b == NULL && p.kernel == NULL && p.tuning == NULL &&
         p.workspace == NULL && p.workspace_bytes == 0;
}
