// TMA instructions on two-dimensional boxes that <cuda/ptx> lacks. One thread executes them.
//
// `tensor_map` points to the map, which holds the size of a box. `coordinates` are those of the box's first
// element, the contiguous dimension first (PTX ISA, "Data Movement and Conversion Instructions: Tensor
// copy").
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// cp.async.bulk.prefetch.tensor.2d.L2.global.tile [tensor_map, coordinates];
// PTX ISA 8.0, sm_90. SASS: UTMAPF.L2.2D.
// Fetches the box from global memory into the L2.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_bulk_prefetch_tensor_2d_L2_global_tile(
    const void* tensor_map, const int32_t (&coordinates)[2]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::cp_async_bulk_prefetch_tensor_2d_L2_global_tile needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(tensor_map),
               "r"(coordinates[0]), "r"(coordinates[1])
               : "memory");
}

// createpolicy.fractional.L2::evict_first.b64 d, 1.0;
// PTX ISA 7.4, sm_80. SASS: its constant in uniform registers.
// The policy of a cache_hint: the L2 evicts data accessed with it first. Create it beside its use: to ptxas
// it is a constant, but nvcc keeps it in a register pair.
template <class Dependent = void>
__device__ __forceinline__ uint64_t createpolicy_fractional_L2_evict_first_b64() {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::createpolicy_fractional_L2_evict_first_b64 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint64_t d;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(d));
  return d;
}

// cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [tensor_map, coordinates],
// [source], policy; PTX ISA 8.0, sm_90. SASS: UTMASTG.2D. Stores the box at source, a shared-window address
// (shared_address.hpp), to global memory. The store belongs to the thread's current bulk group: commit it,
// and wait before the box is written again.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_bulk_tensor_2d_global_shared_cta_tile_bulk_group_L2_cache_hint(
    const void* tensor_map, const int32_t (&coordinates)[2], uint32_t source, uint64_t policy) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::cp_async_bulk_tensor_2d_global_shared_cta_tile_bulk_group_L2_cache_hint needs "
                "sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::
          "l"(tensor_map),
      "r"(coordinates[0]), "r"(coordinates[1]), "r"(source), "l"(policy)
      : "memory");
}

}  // namespace tenon::ptx
