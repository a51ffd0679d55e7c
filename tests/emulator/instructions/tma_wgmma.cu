// A small GEMM in ordinary CUDA C++: tensor maps as grid constants, cuda::barrier with transaction counts,
// bulk tensor copies, wgmma by inline PTX. C = A B^T, 64 x 64 x k, tiles of 64 x 64 x 64.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda/barrier>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int stages = 2, tile_bytes = 64 * 64 * 2;

__device__ std::uint64_t descriptor(const void* tile) {
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
  return (address & 0x3ffff) >> 4 | std::uint64_t{1} << 16 | std::uint64_t{64} << 32 | std::uint64_t{1} << 62;
}

__device__ void multiply(float (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%"
      "27,%28,%29,"
      "%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
        "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
        "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}

// One producer warp and a warpgroup of consumers.
extern "C" __global__ void __launch_bounds__(160)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c,
         int k) {
  __shared__ alignas(1024) std::uint8_t tiles[stages][2][tile_bytes];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      init(&full[i], 1 + 128);
      init(&empty[i], 1 + 128);
    }
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  const int steps = k / 64;
  if (threadIdx.x >= 128) {
    if (threadIdx.x != 128) return;
    for (int step = 0; step < steps; ++step) {
      const int stage = step % stages;
      empty[stage].wait(empty[stage].arrive());
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tiles[stage][0], &map_a,
                                {step * 64, 0}, cuda::device::barrier_native_handle(full[stage]));
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tiles[stage][1], &map_b,
                                {step * 64, 0}, cuda::device::barrier_native_handle(full[stage]));
      (void)cuda::device::barrier_arrive_tx(full[stage], 1, 2 * tile_bytes);
    }
    return;
  }
  for (int i = 0; i < stages; ++i) (void)empty[i].arrive();
  float d[32] = {};
  for (int step = 0; step < steps; ++step) {
    const int stage = step % stages;
    full[stage].wait(full[stage].arrive());
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < 4; ++i)
      multiply(d, descriptor(tiles[stage][0]) + 2 * i, descriptor(tiles[stage][1]) + 2 * i);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    (void)empty[stage].arrive();
  }
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 32; ++i) c[(row + 8 * (i >> 1 & 1)) * 64 + 8 * (i >> 2) + column + (i & 1)] = d[i];
}
