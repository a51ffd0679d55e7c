// What tests/scripts/test_sass.py compiles and checks: a tensor-core kernel, an FP32 kernel, one that spills.
#include <mma.h>

namespace sample {

template <int steps>
__global__ void tensor(const half* a, const half* b, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fragment_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fragment_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> accumulator;
  wmma::fill_fragment(accumulator, 0.0F);
#pragma unroll
  for (int i = 0; i < steps; ++i) {
    wmma::load_matrix_sync(fragment_a, a + i * 256, 16);
    wmma::load_matrix_sync(fragment_b, b + i * 256, 16);
    wmma::mma_sync(accumulator, fragment_a, fragment_b, accumulator);
  }
  wmma::store_matrix_sync(c, accumulator, 16, wmma::mem_row_major);
}
template __global__ void tensor<4>(const half*, const half*, float*);

}  // namespace sample

__global__ void plain(float* a) {
  __shared__ float row[64];
  row[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  float sum = 0.0F;
  for (int i = 0; i < 64; ++i) sum += row[i] * a[i];
  a[threadIdx.x] = sum;
}

// 96 live values, and a launch bound that leaves 32 registers.
__global__ void __launch_bounds__(1024, 2) spilling(float* a) {
  float value[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) value[i] = a[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 96; ++i) a[i * 1024 + threadIdx.x] = value[95 - i] * value[(i * 7) % 96];
}

#ifdef WITH_MAIN
int main() {
  return 0;
}
#endif
