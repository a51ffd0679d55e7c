// Matrix products through nvcuda::wmma, and arithmetic on half and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

namespace wmma = nvcuda::wmma;

// C = A B of 64 x 64 x k for one block of 4 warps, each 16 rows. A row-major, B column-major.
template <class Element, class Sum, int depth>
__device__ void multiply(const Element* a, const Element* b, Sum* c, int k) {
  __shared__ __align__(32) Element tile[64 * depth];
  const int warp = static_cast<int>(threadIdx.x / 32);
  wmma::fragment<wmma::accumulator, 16, 16, depth, Sum> accumulators[4];
  for (auto& sum : accumulators) wmma::fill_fragment(sum, Sum(0));
  for (int at = 0; at < k; at += depth) {
    for (int i = static_cast<int>(threadIdx.x); i < 64 * depth; i += 128)
      tile[i] = b[(i / depth) * k + at + i % depth];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, depth, Element, wmma::row_major> left;
    wmma::load_matrix_sync(left, a + warp * 16 * k + at, static_cast<unsigned>(k));
    for (int j = 0; j < 4; ++j) {
      wmma::fragment<wmma::matrix_b, 16, 16, depth, Element, wmma::col_major> right;
      wmma::load_matrix_sync(right, tile + 16 * j * depth, depth);
      wmma::mma_sync(accumulators[j], left, right, accumulators[j]);
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j)
    wmma::store_matrix_sync(c + warp * 16 * 64 + 16 * j, accumulators[j], 64, wmma::mem_row_major);
}

extern "C" __global__ void multiply_half(const half* a, const half* b, float* c, int k) {
  multiply<half, float, 16>(a, b, c, k);
}
extern "C" __global__ void multiply_bfloat16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c,
                                             int k) {
  multiply<__nv_bfloat16, float, 16>(a, b, c, k);
}
extern "C" __global__ void multiply_int8(const signed char* a, const signed char* b, int* c, int k) {
  multiply<signed char, int, 16>(a, b, c, k);
}

extern "C" __global__ void multiply_double(const double* a, const double* b, double* c) {
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
  wmma::fill_fragment(sum, 0.0);
  wmma::load_matrix_sync(left, a, 4);
  wmma::load_matrix_sync(right, b, 4);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}

// Operations whose results are exact, or rounded once, in either format.
template <class Real>
__device__ void arithmetic(const float* in, float* out, int n, Real (*narrow)(float), float (*widen)(Real)) {
  const int i = static_cast<int>(threadIdx.x);
  const Real x = narrow(in[i]), y = narrow(in[i + 1]);
  out[i] = widen(x + y);
  out[n + i] = widen(x * y);
  out[2 * n + i] = widen(__hfma(x, y, x));
  out[3 * n + i] = widen(__hmax(x, y));
  out[4 * n + i] = widen(__habs(-x));
  out[5 * n + i] = (x < y ? 1.0f : 0.0f) + (x == x ? 2.0f : 0.0f);
}
extern "C" __global__ void half_arithmetic(const float* in, float* out, int n) {
  arithmetic<half>(in, out, n, __float2half, __half2float);
  const half2 pair = __floats2half2_rn(in[threadIdx.x], in[threadIdx.x + 1]);
  out[6 * n + static_cast<int>(threadIdx.x)] = __high2float(__hadd2(pair, __lowhigh2highlow(pair)));
}
extern "C" __global__ void bfloat16_arithmetic(const float* in, float* out, int n) {
  arithmetic<__nv_bfloat16>(in, out, n, __float2bfloat16, __bfloat162float);
  const __nv_bfloat162 pair = __floats2bfloat162_rn(in[threadIdx.x], in[threadIdx.x + 1]);
  out[6 * n + static_cast<int>(threadIdx.x)] = __high2float(__hadd2(pair, __lowhigh2highlow(pair)));
}
