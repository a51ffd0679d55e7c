// Hopper's copies: a cluster whose blocks load tiles by tensor map and wait for the bytes at an mbarrier.
#include <cuda.h>

#include <cuda/ptx>

namespace ptx = cuda::ptx;

__device__ bool elected() {
  int is_elected;
  asm volatile("{ .reg .pred one; elect.sync _|one, 0xffffffff; selp.s32 %0, 1, 0, one; }"
               : "=r"(is_elected));
  return is_elected != 0;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128)
    copy(const __grid_constant__ CUtensorMap source, const __grid_constant__ CUtensorMap destination) {
  __shared__ alignas(128) unsigned char tile[2][4096];
  __shared__ alignas(8) std::uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (threadIdx.x < 32 && elected()) {
    const std::int32_t at[2] = {static_cast<std::int32_t>(blockIdx.x) * 32, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile[0], &source, at, &barrier);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile[1], &source, at, &barrier,
                              static_cast<std::uint16_t>(3));
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier, 8192U);
  }
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0U)) {
  }
  tile[0][threadIdx.x] = static_cast<unsigned char>(tile[1][threadIdx.x] + 1);
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    const std::int32_t at[2] = {0, static_cast<std::int32_t>(blockIdx.x)};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &destination, at, tile[0]);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
