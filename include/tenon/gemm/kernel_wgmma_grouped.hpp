// Grouped products on sm_90a (mixture of experts): one launch multiplies the rows of each group with the
// group's own B. The sizes of the groups stand in device memory. wgmma, TMA and roles as in
// kernel_wgmma.hpp; what differs is in the pieces: tile_scheduler_grouped.hpp, producer_tma_grouped.hpp, and
// a store that leaves the rows of the next group alone. Below: wgmma_grouped_pieces.hpp.
#pragma once

#include "tenon/ptx/needs_sm_90a.hpp"

#include "tenon/gemm/wgmma_grouped_pieces.hpp"
#include "tenon/ptx/griddepcontrol.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {

// Config: Grouped. Launch with `threads`, shared_bytes of dynamic shared memory and clusters of
// Config::Cluster, at most as many as the device runs at once (plan_sm90_grouped.hpp).
template <class Config>
struct GemmGrouped : WgmmaPieces<Config> {
  using Pieces = WgmmaPieces<Config>;
  using Roles = typename GroupedPieces<Config>::Roles;
  using Groups = typename GroupedPieces<Config>::Groups;
  using Producer = typename GroupedPieces<Config>::Producer;
  using Maps = typename Producer::Maps;
  using Cluster = typename Config::Cluster;
  using Ring = typename Pieces::Ring;

  // By all threads of the CTA, which has one dimension, once a kernel. Takes the named barriers of Turns.
  // memory, op: see GemmWgmma::run(). map_c: see StoreTma.
  template <class Op>
  __device__ __forceinline__ static void run(const Maps& map_a, const Maps& map_b, const TensorMap& map_c,
                                             const GroupedArguments& p, std::uint8_t* memory, const Op& op) {
    if (works_for_warp(Pieces::producer_warp)) {
      Producer::prefetch(map_a, map_b);
      if (tma_can_store(p.c)) prefetch_map(map_c);
    }
    const std::uint32_t ring_memory = ptx::shared_address(memory);
    const Ring ring(reinterpret_cast<std::uint64_t*>(memory + Pieces::barriers_at));
    if (works_for_warp(0)) ring.initialize(Pieces::warps_of_a_tile * Cluster::writers);
    Roles::synchronise_barriers();
    ptx::griddepcontrol_launch_dependents();  // see GemmWgmma
    const int group = Roles::warpgroup();
    const int cta = static_cast<int>(blockIdx.x), ctas = static_cast<int>(gridDim.x);
    if (group == Config::consumers) {
      Roles::template set_registers<false>();
      if (static_cast<int>(threadIdx.x) / 32 == Pieces::producer_warp) {
        ptx::griddepcontrol_wait();  // the sizes of the groups, and A
        const int in_use = Groups::ctas_in_use(p, ctas);
        if (cta < in_use && works_for_warp(Pieces::producer_warp)) {
          auto scheduler = Groups::scheduler(p, cta, in_use);
          Producer::run(map_a, map_b, p, scheduler, memory, ring);
          if (cta == 0 && p.error != nullptr && scheduler.first_invalid() >= 0)
            *p.error = 1 + scheduler.first_invalid();
        }
      }
    } else {
      Roles::template set_registers<true>();
      ptx::griddepcontrol_wait();
      const int in_use = Groups::ctas_in_use(p, ctas);
      if (cta >= in_use) return;
      auto scheduler = Groups::scheduler(p, cta, in_use);
      const auto& operation = LoadedOperation<Op>::of(op);
      Consumers::run(group, p, scheduler, ring, ring_memory, operation, map_c,
                     ring_memory + Pieces::subtiles_at);
      // TMA reads the shared memory of the warp's last subtiles.
      cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
    }
  }

 private:
  using Consumers = std::conditional_t<Config::pingpong, GroupedPingpongConsumers<Config>,
                                       GroupedCooperativeConsumers<Config>>;
};

// Launch it as plan_sm90_grouped.hpp says.
template <class Config, class Op>
__global__ void __launch_bounds__(GemmGrouped<Config>::threads, 1)
    __cluster_dims__(Config::Cluster::ctas, 1, 1)
        gemm_grouped(const __grid_constant__ typename GemmGrouped<Config>::Maps map_a,
                     const __grid_constant__ typename GemmGrouped<Config>::Maps map_b,
                     const __grid_constant__ TensorMap map_c,
                     const __grid_constant__ GroupedArguments arguments, const __grid_constant__ Op op) {
  extern __shared__ __align__(1024) std::uint8_t shared[];
  GemmGrouped<Config>::run(map_a, map_b, map_c, arguments, shared, op);
}

}  // namespace tenon
