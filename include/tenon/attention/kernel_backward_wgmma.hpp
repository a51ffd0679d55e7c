// The backward kernel of attention for sm_90a.
//
// A producer warp loads tiles by TMA; two consumer warpgroups own 64 keys each (consumer_backward_wgmma.hpp).
// A CTA has dK and dV of its 128 keys in registers, and adds dQ to device memory, in f32, as the other CTAs
// of its head do, in the order of their keys or in none (query_sums_backward_wgmma.hpp). The heads in progress
// are few enough for the L2 to hold their dQ. Shah et al., "FlashAttention-3" (2024). Below:
// consumer_backward_wgmma.hpp, producer_backward_tma.hpp.
#pragma once

#include "tenon/ptx/needs_sm_90a.hpp"

#include "tenon/attention/consumer_backward_wgmma.hpp"
#include "tenon/attention/producer_backward_tma.hpp"
#include "tenon/ptx/setmaxnreg.hpp"

namespace tenon {

// Config: AttentionBackwardConfig. Mask: mask.hpp; the arguments' window is the same. Launch with
// Config::threads, Config::shared_bytes of dynamic shared memory and a CTA for each tile of a.key_tiles,
// after attention_backward_prepare().
template <class Config, class Mask>
__global__ void __launch_bounds__(Config::threads, 1)
    attention_backward_wgmma(const __grid_constant__ AttentionBackwardMaps maps,
                             const __grid_constant__ AttentionBackwardArguments a,
                             const __grid_constant__ Mask mask) {
  extern __shared__ std::uint8_t backward_wgmma_shared[];
  const std::uint32_t misaligned = ptx::shared_address(backward_wgmma_shared) % Config::alignment;
  std::uint8_t* const memory = backward_wgmma_shared + (misaligned == 0 ? 0 : Config::alignment - misaligned);
  const AttentionBackwardRings<Config> rings(memory);
  if (works_for_warp(0)) rings.initialize();
  __syncthreads();
  cudaGridDependencySynchronize();
  // Broadcast, so that ptxas knows it to be uniform.
  const int group = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == Config::consumers) {
    ptx::setmaxnreg_dec_sync_aligned_u32<Config::producer_registers>();
    if (works_for_warp(Config::producer_warp)) {
      AttentionBackwardProducer<Config>(maps, a, rings, memory)
          .run(BackwardWork::of<Config>(a, static_cast<int>(blockIdx.x)));
    }
  } else {
    ptx::setmaxnreg_inc_sync_aligned_u32<Config::consumer_registers>();
    const int index = __shfl_sync(0xffffffffU, static_cast<int>(blockIdx.x), 0);
    AttentionBackwardConsumer<Config, Mask>(a, mask, rings, memory, group)
        .run(BackwardWork::of<Config>(a, index));
  }
}

}  // namespace tenon
