// Prefetches of a line of global memory and of a tensor map (PTX ISA, "Data Movement and Conversion
// Instructions: prefetch").
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// prefetch.global.L2 [address];
// PTX ISA 6.3, sm_75. SASS: CCTL.E.PF2.
// Fetches the line that holds address into the L2. address must point to global memory.
template <class Dependent = void>
__device__ __forceinline__ void prefetch_global_L2(const void* address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::prefetch_global_L2 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address) : "memory");
}

// prefetch.tensormap [tensor_map];
// PTX ISA 8.0, sm_90. SASS: UTMACCTL.PF.
// Fetches the tensor map, 128 bytes in constant, parameter or global memory, for TMA instructions to come.
template <class Dependent = void>
__device__ __forceinline__ void prefetch_tensormap(const void* tensor_map) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::prefetch_tensormap needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("prefetch.tensormap [%0];" ::"l"(tensor_map) : "memory");
}

}  // namespace tenon::ptx
