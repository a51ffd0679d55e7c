// Addresses in the shared memory of another block of the cluster, and an arrival on a barrier there.
//
// cuda::ptx has the arrival only with an explicit scope. ptxas compiles .release.cluster into a fence of the
// whole device before the arrival. The default, .release.cta, orders this thread's own reads, which is all
// that a consumer needs.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mapa.shared::cluster.u32 d, a, cta;
// PTX ISA 7.8, sm_90. SASS: PRMT.
// d: the address in the cluster's shared window that corresponds to address a of this block, in block `cta`
// of the cluster.
template <class Dependent = void>
__device__ __forceinline__ uint32_t mapa_shared_cluster_u32(uint32_t a, uint32_t cta) {
  static_assert(
      sm_at_least<90, Dependent>,
      "tenon::ptx::mapa_shared_cluster_u32 needs sm_90 or newer: compile with -arch=sm_90 or above");
  uint32_t d;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(cta));
  return d;
}

// mbarrier.arrive.shared::cluster.b64 _, [barrier];
// PTX ISA 8.0, sm_90. SASS: SYNCS.ARRIVE.TRANS64.RED.A1T0.
// barrier: its address as mapa gives it. One arrival, .release at the scope .cta.
template <class Dependent = void>
__device__ __forceinline__ void mbarrier_arrive_shared_cluster_b64(uint32_t barrier) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mbarrier_arrive_shared_cluster_b64 needs sm_90 or newer: compile with "
                "-arch=sm_90 or above");
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" : : "r"(barrier) : "memory");
}

}  // namespace tenon::ptx
