// Attention of few queries over latent keys (MLA) for sm_90a, where many rows, query tokens and heads, share
// the keys: V is the first columns of K, so that each row is read once for both products.
//
// A CTA computes 64 rows over one split of the keys; kernel_decode_combine.hpp merges the splits. A producer
// warp loads tiles of keys by TMA. Two consumer warpgroups alternate tiles: one computes the scores
// of a tile and its softmax, and both multiply P by V, each half of the columns. So the softmax of one runs
// under the products of the other (consumer_decode_wgmma.hpp). That two warpgroups share O so is from
// DeepSeek's description of FlashMLA (2025). Below: consumer_decode_wgmma.hpp, producer_decode_wgmma.hpp.
#pragma once

#include "tenon/ptx/needs_sm_90a.hpp"

#include "tenon/attention/consumer_decode_wgmma.hpp"
#include "tenon/attention/producer_decode_wgmma.hpp"
#include "tenon/pipeline/grid_dependency.hpp"
#include "tenon/ptx/setmaxnreg.hpp"

namespace tenon {

// Config: LatentWgmmaConfig. Launch with Config::threads, Config::shared_bytes of dynamic shared memory, and
// a CTA for each DecodeWork; the row tiles are a multiple of Config::cluster.
template <class Config>
struct LatentWgmma {
  __device__ __forceinline__ static void run(const TensorMap& keys, const AttentionDecodeArguments& a,
                                             const PlainScore& score, std::uint8_t* shared) {
    using Ring = typename Config::Ring;
    const std::uint32_t misaligned = ptx::shared_address(shared) % Config::alignment;
    std::uint8_t* const memory = shared + (misaligned == 0 ? 0 : Config::alignment - misaligned);
    const Ring ring(reinterpret_cast<std::uint64_t*>(memory + Config::barriers_at));
    if (works_for_warp(Config::producer_warp)) {
      prefetch_map(keys);
      // The four warps of one consumer release a stage, in each CTA that it is multicast to.
      ring.initialize(4 * Config::cluster);
    }
    if constexpr (Config::cluster == 1) {
      __syncthreads();
    } else {
      cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_relaxed);
      cuda::ptx::barrier_cluster_wait();
    }
    let_next_grid_begin();
    // Broadcast, so that ptxas knows it to be uniform.
    const int group = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 128, 0);
    if (group == Config::consumers) {
      ptx::setmaxnreg_dec_sync_aligned_u32<Config::producer_registers>();
      if (!works_for_warp(Config::producer_warp)) return;
      wait_for_previous_grid();
      const LatentWork work = LatentWork::of<Config>(a);
      if (!work.none()) LatentProducer<Config>(keys, a, ring, memory).run(work);
    } else {
      ptx::setmaxnreg_inc_sync_aligned_u32<Config::consumer_registers>();
      wait_for_previous_grid();
      const LatentWork work = LatentWork::of<Config>(a);
      if (!work.none()) LatentConsumer<Config>(a, score, ring, memory, group, work).run();
    }
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::threads, 1) __cluster_dims__(Config::cluster, 1, 1)
    attention_decode_latent_wgmma(const __grid_constant__ TensorMap keys,
                                  const __grid_constant__ AttentionDecodeArguments arguments,
                                  const __grid_constant__ PlainScore score) {
  extern __shared__ std::uint8_t shared[];
  LatentWgmma<Config>::run(keys, arguments, score, shared);
}

}  // namespace tenon
