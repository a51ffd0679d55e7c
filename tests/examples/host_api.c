/* The C API: the product of two matrices of ones. Link with tenon::tenon. */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "tenon/tenon.h"

enum { m = 100, n = 70, k = 33 };

int main(void) {
  uint16_t *a, *b; /* f16 */
  float* c;
  if (cudaMallocManaged((void**)&a, sizeof *a * m * k, cudaMemAttachGlobal) != cudaSuccess)
    return puts("skipped: this example needs a GPU"), 77;
  cudaMallocManaged((void**)&b, sizeof *b * k * n, cudaMemAttachGlobal);
  cudaMallocManaged((void**)&c, sizeof *c * m * n, cudaMemAttachGlobal);
  for (int i = 0; i < m * k; ++i) a[i] = 0x3c00; /* 1 */
  for (int i = 0; i < k * n; ++i) b[i] = 0x3c00;
  tenon_gemm_problem p = tenon_gemm_problem_default();
  p.m = m, p.n = n, p.k = k;
  p.a = (tenon_const_matrix){.data = a, .ld = k, .order = TENON_ROW_MAJOR, .type = TENON_F16};
  p.b = (tenon_const_matrix){.data = b, .ld = k, .order = TENON_COLUMN_MAJOR, .type = TENON_F16};
  p.c = (tenon_matrix){.data = c, .ld = n, .type = TENON_F32};
  tenon_status s = tenon_gemm(&p, NULL);
  if (s.code != TENON_OK) fprintf(stderr, "%s\n", s.message);
  int wrong = s.code != TENON_OK || cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < m * n && wrong == 0; ++i) wrong = c[i] != k;
  return s.code == TENON_DEVICE_UNSUPPORTED ? 77 : wrong;
}
