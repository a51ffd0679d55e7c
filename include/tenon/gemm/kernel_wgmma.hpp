// The GEMM of sm_90a: consumer warpgroups multiply straight from shared memory (wgmma), and a producer
// warpgroup loads the operands by TMA. CTAs of a cluster that need the same operand load a part each and
// multicast it.
//
// No operand passes through registers: a consumer warpgroup holds its part of the accumulators, and
// descriptors tell the tensor core where the k-tiles are in shared memory. The grid is persistent: loads for
// the next tile run during the epilogue of this one, which stores by TMA where C allows it. The schedule of
// the consumers is in kernel_wgmma_cooperative.hpp (all consumers compute a part of each tile) or in
// kernel_wgmma_pingpong.hpp (two consumers alternate tiles). This file has what both schedules share: the
// start of the kernel, the producer warpgroup, and the __global__ function. Below: wgmma_pieces.hpp,
// wgmma_roles.hpp.
#pragma once

#include "tenon/ptx/needs_sm_90a.hpp"

#include "tenon/gemm/kernel_wgmma_cooperative.hpp"
#include "tenon/gemm/kernel_wgmma_pingpong.hpp"
#include "tenon/gemm/wgmma_pieces.hpp"
#include "tenon/gemm/wgmma_roles.hpp"
#include "tenon/ptx/griddepcontrol.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {

// Config: see WgmmaPieces. Launch with `threads`, shared_bytes of dynamic shared memory and clusters of
// Config::Cluster, at most as many as the device runs at once (plan_sm90.hpp).
template <class Config>
struct GemmWgmma : WgmmaPieces<Config> {
  using Pieces = WgmmaPieces<Config>;
  using Roles = WgmmaRoles<Config, typename RegisterBudget<Config>::Roles>;
  using typename Pieces::Budget;
  using typename Pieces::Cluster;
  using typename Pieces::Producer;
  using typename Pieces::Reduction;
  using typename Pieces::Ring;
  using typename Pieces::Scheduler;
  using MapA = typename Producer::MapA;
  using MapB = typename Producer::MapB;

  // Called once in a kernel by all threads of a one-dimensional CTA: the barriers in `memory` serve one call.
  // memory: shared_bytes_with<Op> of shared memory from a multiple of Pieces::alignment on. Uses the named
  // barriers of NamedBarrier. op: see epilogue.hpp. map_c: as Pieces::Store says; not read where TMA cannot
  // store C.
  template <class Op>
  __device__ __forceinline__ static void run(const MapA& map_a, const MapB& map_b, const TensorMap& map_c,
                                             const GemmArguments& p, std::uint8_t* memory, const Op& op) {
    const auto cluster = Cluster::of(p.cluster);
    const Scheduler scheduler = scheduler_of(p, cluster);
    const std::uint32_t ring_memory = ptx::shared_address(memory);
    const Ring ring(reinterpret_cast<std::uint64_t*>(memory + Pieces::barriers_at));
    auto reduction = reduction_of(p, scheduler, memory, ring_memory, cluster);
    // Called by each warp when it has prepared what it can without the others. The next grid's prologue
    // overlaps this grid's tail; its producers wait on the grid dependency before their first loads. Where
    // registers are scarce, all threads wait for the previous grid here: ptxas would spill if the producers
    // and the consumers waited later, each for itself.
    const auto synchronise = [] {
      Roles::synchronise_barriers();
      ptx::griddepcontrol_launch_dependents();
      if (Budget::scarce) ptx::griddepcontrol_wait();
    };
    const int group = Roles::warpgroup();
    if (group == Config::consumers) {
      Roles::template set_registers<false>();
      produce_all(map_a, map_b, map_c, p, scheduler, memory, ring, synchronise);
      // Tail split-K synchronises all threads of the cluster, so the producer warpgroup takes part.
      reduction.join(scheduler.ends_with_split_tile());
      return;
    }
    if (works_for_warp(0)) {
      // This CTA's producers multicast to `writers` CTAs, itself included. They may overwrite a stage when
      // every consumer warp that reads the stage has released it, in each of these CTAs.
      ring.initialize(Pieces::warps_of_a_tile * cluster.writers, producers);
      reduction.initialize();
    }
    synchronise();
    Roles::template set_registers<true>();
    // The operation may read, and the store overwrites, what the previous grid wrote.
    if (!Budget::scarce) ptx::griddepcontrol_wait();
    // The same operation, after it has read its scalars (LinearCombination: the scales of A and B).
    const auto& operation = LoadedOperation<Op>::of(op);
    using Store = typename Pieces::template Store<typename LoadedOperation<Op>::type>;
    const Store store(p.c, operation, map_c, ring_memory + Pieces::subtiles_at);
    const int consumer = Budget::counts_consumers_anew ? static_cast<int>(threadIdx.x) / 128 : group;
    ConsumersOf<Config>::run(consumer, p, scheduler, ring, ring_memory, reduction, store);
  }

 private:
  __device__ __forceinline__ static Scheduler scheduler_of(const GemmArguments& p, const Cluster& cluster) {
    const int k_tiles = Producer::k_tiles(p.k), cta = static_cast<int>(blockIdx.x),
              ctas = static_cast<int>(gridDim.x);
    if constexpr (Config::streams_k) {
      return Scheduler(p.raster, p.whole_tiles, p.pieces, k_tiles, cta, ctas, cluster);
    } else {
      return Scheduler(p.raster, p.whole_tiles, k_tiles, cta, ctas, cluster);
    }
  }
  __device__ __forceinline__ static Reduction reduction_of(const GemmArguments& p, const Scheduler& scheduler,
                                                           std::uint8_t* memory, std::uint32_t ring,
                                                           const Cluster& cluster) {
    if constexpr (Config::streams_k) {
      return Reduction(p, scheduler);
    } else {
      return Reduction(memory + Pieces::reduction_at, ring, cluster);
    }
  }

  template <class C>
  using ConsumersOf = std::conditional_t<C::pingpong, PingpongConsumers<C>, CooperativeConsumers<C>>;
  static constexpr int producers = 2;  // threads, of A and of B

  // The producer warpgroup: its first warp loads A, its second B. synchronise(): see produce().
  template <class Synchronise>
  __device__ __forceinline__ static void produce_all(const MapA& map_a, const MapB& map_b,
                                                     const TensorMap& map_c, const GemmArguments& p,
                                                     const Scheduler& scheduler, std::uint8_t* memory,
                                                     const Ring& ring, const Synchronise& synchronise) {
    // Broadcast as Roles::warpgroup() is.
    const int warp = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0) - Pieces::producer_warp;
    if (warp == 0) {
      Producer::template run<Operand::a>(map_a, p, scheduler, memory, ring, synchronise);
    } else if (warp == 1) {
      Producer::template run<Operand::b>(map_b, p, scheduler, memory, ring, synchronise);
    } else {
      synchronise();
      if (!Config::row_interleaved && tma_can_store(p.c) && warp == 2 && ptx::elect_sync(0xffffffffU))
        prefetch_map(map_c);
    }
  }
};

// C = op(A * B). Launch it as plan_sm90.hpp says. Op: see epilogue.hpp.
template <class Config, class Op>
__global__ void __launch_bounds__(GemmWgmma<Config>::threads, 1) __cluster_dims__(Config::Cluster::ctas, 1, 1)
    gemm_wgmma(const __grid_constant__ typename GemmWgmma<Config>::MapA map_a,
               const __grid_constant__ typename GemmWgmma<Config>::MapB map_b,
               const __grid_constant__ TensorMap map_c, const __grid_constant__ GemmArguments arguments,
               const __grid_constant__ Op op) {
  extern __shared__ __align__(1024) std::uint8_t shared[];
  GemmWgmma<Config>::run(map_a, map_b, map_c, arguments, shared, op);
}

// The same for a Config whose Cluster is LaunchedCluster: clusters of the size that the launch says.
template <class Config, class Op>
__global__ void __launch_bounds__(GemmWgmma<Config>::threads, 1)
    gemm_wgmma_launched_cluster(const __grid_constant__ typename GemmWgmma<Config>::MapA map_a,
                                const __grid_constant__ typename GemmWgmma<Config>::MapB map_b,
                                const __grid_constant__ TensorMap map_c,
                                const __grid_constant__ GemmArguments arguments,
                                const __grid_constant__ Op op) {
  extern __shared__ __align__(1024) std::uint8_t shared[];
  GemmWgmma<Config>::run(map_a, map_b, map_c, arguments, shared, op);
}

// gemm_wgmma for a C of one type, which the launch must have. It has no code for the other types of C: half
// the code, which NVRTC compiles in less than half the time.
template <class Config, class Op, Type type>
__global__ void __launch_bounds__(GemmWgmma<Config>::threads, 1) __cluster_dims__(Config::Cluster::ctas, 1, 1)
    gemm_wgmma_typed(const __grid_constant__ typename GemmWgmma<Config>::MapA map_a,
                     const __grid_constant__ typename GemmWgmma<Config>::MapB map_b,
                     const __grid_constant__ TensorMap map_c, const __grid_constant__ GemmArguments arguments,
                     const __grid_constant__ Op op) {
  extern __shared__ __align__(1024) std::uint8_t shared[];
  GemmArguments typed = arguments;
  typed.c.type = type;
  GemmWgmma<Config>::run(map_a, map_b, map_c, typed, shared, op);
}

}  // namespace tenon
