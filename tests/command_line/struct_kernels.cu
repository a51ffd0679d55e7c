// Kernels whose parameters are structs passed by value, for `tenon emulate`: test_emulate.py's arguments must
// match the layout that nvcc gives them.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda/barrier>
#include <cuda/ptx>

#include <cstdint>

// The shape of GemmArguments: numbers, pointers and nested structs, with padding between and after them.
struct Output {
  void* data;
  std::int64_t ld;
  int m, n;
  bool is_half;
};
struct Raster {
  int tiles_m;
  struct Divisor {
    std::uint32_t multiplier;
    std::uint8_t shift;
  } divisor[2];
};
struct Problem {
  int m, n, k;
  const void* a;
  std::int64_t lda;
  const void* b;
  std::int64_t ldb;
  Output c;
  float alpha;
  Raster raster;
  const float* scale = nullptr;
  alignas(16) std::uint16_t tail;
};

// C = alpha * scale * A B^T, one thread per element; writes tail and the raster's numbers to `seen`.
extern "C" __global__ void product(Problem p, std::uint32_t* seen) {
  const int row = threadIdx.x / p.c.n, column = threadIdx.x % p.c.n;
  if (threadIdx.x == 0) {
    seen[0] = p.tail;
    seen[1] = p.raster.tiles_m;
    for (int i = 0; i < 2; ++i) {
      seen[2 + 2 * i] = p.raster.divisor[i].multiplier;
      seen[3 + 2 * i] = p.raster.divisor[i].shift;
    }
  }
  if (row >= p.c.m) return;
  float sum = 0;
  for (int i = 0; i < p.k; ++i)
    sum += __half2float(static_cast<const __half*>(p.a)[row * p.lda + i]) *
           __half2float(static_cast<const __half*>(p.b)[column * p.ldb + i]);
  sum *= p.alpha * (p.scale != nullptr ? *p.scale : 1);
  if (p.c.is_half)
    static_cast<__half*>(p.c.data)[row * p.c.ld + column] = __float2half(sum);
  else
    static_cast<float*>(p.c.data)[row * p.c.ld + column] = sum;
}

// Two tensor maps in one parameter: the sum of a tile of each, after a number that moves them.
struct TwoMaps {
  float factor;
  CUtensorMap a, b;
};
extern "C" __global__ void sum_of_boxes(const __grid_constant__ TwoMaps p, float* y) {
  namespace ptx = cuda::ptx;
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(128) float tiles[2][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full;
  if (threadIdx.x == 0) {
    init(&full, 32);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint64_t* barrier = cuda::device::barrier_native_handle(full);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tiles[0], &p.a, {4, 0}, barrier);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tiles[1], &p.b, {0, 4}, barrier);
    full.wait(cuda::device::barrier_arrive_tx(full, 1, sizeof tiles));
  } else {
    full.wait(full.arrive());
  }
  y[threadIdx.x] = p.factor * (tiles[0][threadIdx.x] + tiles[1][threadIdx.x]);
}
