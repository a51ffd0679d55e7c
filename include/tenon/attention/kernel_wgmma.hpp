// The forward kernel of attention for sm_90a: O = softmax(scale * Q K^T) V.
//
// A producer warp loads tiles of Q, K and V by TMA. Two or three consumer warpgroups have 64 queries each:
// wgmma multiplies Q and K from shared memory, the softmax runs in registers, and wgmma multiplies P from
// registers by V from shared memory. The grid is persistent. See consumer_wgmma.hpp for what overlaps. Values
// of e4m3 are transposed in shared memory by the three other warps of the producer's warpgroup. Shah et al.,
// "FlashAttention-3" (2024). Below: consumer_wgmma.hpp, producer_tma.hpp.
#pragma once

#include "tenon/ptx/needs_sm_90a.hpp"

#include "tenon/attention/consumer_wgmma.hpp"
#include "tenon/attention/producer_tma.hpp"
#include "tenon/attention/transposer_wgmma.hpp"
#include "tenon/ptx/griddepcontrol.hpp"
#include "tenon/ptx/setmaxnreg.hpp"

namespace tenon {

// Config: AttentionConfig. Mask: mask.hpp. Score: score_function.hpp. Launch with Config::threads and
// Config::shared_bytes of dynamic shared memory.
template <class Config, class Mask, class Score>
struct AttentionWgmma {
  using Walk = KeyTileWalk<Mask, Config::Block::m, Config::Block::n>;
  // The producer needs more of them to find the rows of a batch.
  static constexpr int moved_registers = has_batches<Mask> ? 32 : 0;
  static_assert(moved_registers == 0 || Config::consumers == 2,
                "AttentionWgmma: batches of variable lengths need tiles of 128 queries");
  static_assert(!has_batches<Mask> || !Config::ValueTiles::transposed,
                "AttentionWgmma: batches of variable lengths need elements of 16 bits");
  static constexpr int producer_registers = Config::producer_registers + moved_registers;
  static constexpr int consumer_registers = Config::consumer_registers - moved_registers / 2;

  // Called once by all threads of a one-dimensional CTA.
  __device__ __forceinline__ static void run(const AttentionMaps& maps, const AttentionWgmmaArguments& p,
                                             const Mask& mask, const Score& score, std::uint8_t* shared) {
    const std::uint32_t misaligned = ptx::shared_address(shared) % Config::alignment;
    std::uint8_t* const memory = shared + (misaligned == 0 ? 0 : Config::alignment - misaligned);
    const AttentionRings<Config> rings(memory);
    if (works_for_warp(Config::producer_warp)) {
      prefetch_map(maps.q);
      prefetch_map(maps.k);
      prefetch_map(maps.v);
    }
    if (works_for_warp(0)) rings.initialize();
    __syncthreads();
    ptx::griddepcontrol_launch_dependents();
    // Broadcast, so that ptxas knows it to be uniform (WgmmaRoles::warpgroup()).
    const int group = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 128, 0);
    if (group == Config::consumers) {
      ptx::setmaxnreg_dec_sync_aligned_u32<producer_registers>();
      const PersistentScheduler scheduler = this_scheduler(p.order);
      if (works_for_warp(Config::producer_warp)) {
        ptx::griddepcontrol_wait();
        AttentionProducer<Config>(maps, p, rings, memory).run(Walk(scheduler, mask));
      } else if constexpr (Config::ValueTiles::transposed) {
        const int transposer = static_cast<int>(threadIdx.x) / 32 - Config::producer_warp - 1;
        if (transposer >= 0)
          AttentionTransposer<Config>(rings, ptx::shared_address(memory), transposer)
              .run(Walk(scheduler, mask));
      }
    } else {
      ptx::setmaxnreg_inc_sync_aligned_u32<consumer_registers>();
      ptx::griddepcontrol_wait();  // the previous grid may read what the store overwrites
      const PersistentScheduler scheduler = this_scheduler(p.order);
      AttentionConsumer<Config, Mask, Score>(p, mask, score, rings, ptx::shared_address(memory), group)
          .run(Walk(scheduler, mask));
    }
  }

 private:
  // The CTA's number is opaque: nvcc would compute the first work tile before the roles part, where the
  // producer has no registers for it.
  __device__ __forceinline__ static PersistentScheduler this_scheduler(const PersistentOrder& order) {
    return {order, __shfl_sync(0xffffffffU, static_cast<int>(blockIdx.x), 0), static_cast<int>(gridDim.x)};
  }
};

template <class Config, class Mask, class Score>
__global__ void __launch_bounds__(Config::threads, 1)
    attention_wgmma(const __grid_constant__ AttentionMaps maps,
                    const __grid_constant__ AttentionWgmmaArguments arguments,
                    const __grid_constant__ Mask mask, const __grid_constant__ Score score) {
  extern __shared__ std::uint8_t shared[];
  AttentionWgmma<Config, Mask, Score>::run(maps, arguments, mask, score, shared);
}

}  // namespace tenon
