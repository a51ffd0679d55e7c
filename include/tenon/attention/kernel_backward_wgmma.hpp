// The backward kernel of attention for sm_90a.
//
// A producer warp loads tiles by TMA; two consumer warpgroups own 64 keys each (consumer_backward_wgmma.hpp).
// A CTA has dK and dV of its 128 keys in registers, and adds dQ to device memory, in f32, as the other CTAs
// of its head do, in the order of their keys or in none. Other CTAs round dQ (scheduler_backward.hpp). Shah
// et al., "FlashAttention-3" (2024). Below: consumer_backward_wgmma.hpp, producer_backward_tma.hpp,
// scheduler_backward.hpp.
#pragma once

#include "tenon/ptx/needs_sm_90a.hpp"

#include "tenon/attention/consumer_backward_wgmma.hpp"
#include "tenon/attention/producer_backward_tma.hpp"
#include "tenon/attention/round_backward_wgmma.hpp"
#include "tenon/attention/scheduler_backward.hpp"
#include "tenon/ptx/griddepcontrol.hpp"
#include "tenon/ptx/setmaxnreg.hpp"

namespace tenon {

// Config: AttentionBackwardConfig. Mask: mask.hpp; the arguments' window is the same. Launch with
// Config::threads, Config::shared_bytes of dynamic shared memory and a CTA for each task of the order, after
// attention_backward_prepare().
template <class Config, class Mask>
__global__ void __launch_bounds__(Config::threads, 1)
    attention_backward_wgmma(const __grid_constant__ AttentionBackwardMaps maps,
                             const __grid_constant__ AttentionBackwardArguments a,
                             const __grid_constant__ BackwardOrder order, const __grid_constant__ Mask mask) {
  extern __shared__ std::uint8_t backward_wgmma_shared[];
  const std::uint32_t misaligned = ptx::shared_address(backward_wgmma_shared) % Config::alignment;
  // Opaque: computed once, not wherever an address is.
  std::uint8_t* const memory =
      backward_wgmma_shared + ptx::opaque_copy(misaligned == 0 ? 0U : Config::alignment - misaligned);
  const AttentionBackwardRings<Config> rings(memory);
  if (works_for_warp(0)) rings.initialize();
  __syncthreads();
  ptx::griddepcontrol_wait();
  // The CTA's number is opaque: nvcc would compute the task before the roles part, and ptxas would spill it.
  const auto task = [&] { return order.at(__shfl_sync(0xffffffffU, static_cast<int>(blockIdx.x), 0)); };
  if (const BackwardTask mine = task(); mine.rounds) {
    BackwardRounder<Config>::run(a, memory, mine.tile, mine.head);
    return;
  }
  // Broadcast, so that ptxas knows it to be uniform.
  const int group = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == Config::consumers) {
    ptx::setmaxnreg_dec_sync_aligned_u32<Config::producer_registers>();
    if (works_for_warp(Config::producer_warp))
      AttentionBackwardProducer<Config>(maps, a, rings, memory)
          .run(BackwardWork::of<Config, Mask>(a, task()));
  } else {
    ptx::setmaxnreg_inc_sync_aligned_u32<Config::consumer_registers>();
    AttentionBackwardConsumer<Config, Mask>(a, mask, rings, memory).run(task);
  }
}

}  // namespace tenon
