/* The C API on DLPack tensors: C = A B of ones, where this file stands in for the library that exports them.
 */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "dlpack.h"

enum { m = 100, n = 72, k = 40 };

/* rows x columns f16 elements of managed memory, packed; stored transposed if the strides say so. */
static DLManagedTensorVersioned exported(void* data, int64_t* shape, int64_t* strides) {
  DLManagedTensorVersioned t = {{1, 1}, NULL, NULL, 0, {0}};
  t.dl_tensor.data = data;
  t.dl_tensor.device.device_type = kDLCUDAManaged;
  t.dl_tensor.ndim = 2;
  t.dl_tensor.dtype.code = kDLFloat, t.dl_tensor.dtype.bits = 16, t.dl_tensor.dtype.lanes = 1;
  t.dl_tensor.shape = shape, t.dl_tensor.strides = strides;
  return t;
}

int main(void) {
  uint16_t* x; /* A, B and C, one after another */
  if (cudaMallocManaged((void**)&x, sizeof *x * (m * k + k * n + m * n), cudaMemAttachGlobal) != cudaSuccess)
    return puts("skipped: this example needs a GPU"), 77;
  for (int i = 0; i < m * k + k * n; ++i) x[i] = 0x3c00; /* 1 */
  int64_t shapes[3][2] = {{m, k}, {k, n}, {m, n}}, strides[3][2] = {{k, 1}, {1, k}, {n, 1}};
  const DLManagedTensorVersioned a = exported(x, shapes[0], strides[0]),
                                 b = exported(x + m * k, shapes[1], strides[1]),
                                 c = exported(x + m * k + k * n, shapes[2], strides[2]);
  tenon_gemm_problem p = tenon_gemm_problem_default();
  int device = 0;
  cudaGetDevice(&device);
  tenon_status s = dlpack_operand(&a, device, &p.a, &p.m, &p.k);
  if (s.code == TENON_OK) s = dlpack_operand(&b, device, &p.b, &p.k, &p.n);
  if (s.code == TENON_OK) s = dlpack_result(&c, device, &p.c, &p.m, &p.n);
  if (s.code == TENON_OK) s = tenon_gemm(&p, NULL);
  if (s.code != TENON_OK) fprintf(stderr, "%s\n", s.message);
  int wrong = s.code != TENON_OK || cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < m * n && wrong == 0; ++i) wrong = x[m * k + k * n + i] != 0x5100; /* 40 */
  return s.code == TENON_DEVICE_UNSUPPORTED ? 77 : wrong;
}
