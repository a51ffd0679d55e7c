// What the roles of the wgmma kernels begin with. Below: wgmma_pieces.hpp, ptx/setmaxnreg.hpp.
#pragma once

#include "tenon/ptx/needs_sm_90a.hpp"

#include "tenon/gemm/wgmma_pieces.hpp"
#include "tenon/ptx/setmaxnreg.hpp"

namespace tenon {

// Config: see WgmmaPieces. Registers: RoleRegisters.
template <class Config, class Registers = WgmmaRegisters>
struct WgmmaRoles {
  using Cluster = typename Config::Cluster;

  // Moves registers from the producer warpgroup to the consumers. With one consumer warpgroup there are
  // enough registers for all.
  template <bool consumer>
  __device__ __forceinline__ static void set_registers() {
    if constexpr (Config::consumers > 1) {
      if constexpr (consumer) {
        ptx::setmaxnreg_inc_sync_aligned_u32<Registers::consumer>();
      } else {
        ptx::setmaxnreg_dec_sync_aligned_u32<Registers::producer>();
      }
    }
  }

  // Called by all threads: afterwards the barriers of every CTA in the cluster are initialised. The arrival
  // is relaxed, because initialize() has a fence of its own; a release would wait for every earlier write of
  // the thread.
  __device__ __forceinline__ static void synchronise_barriers() {
    if constexpr (Cluster::may_have_others) {
      cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_relaxed);
      cuda::ptx::barrier_cluster_wait();
    } else {
      __syncthreads();
    }
  }

  // The number of this thread's warpgroup, broadcast from lane 0 so that ptxas knows it to be uniform. ptxas
  // then computes the operands' descriptors in uniform registers, instead of moving them there before every
  // instruction.
  __device__ __forceinline__ static int warpgroup() {
    return __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 128, 0);
  }
};

}  // namespace tenon
