// Elects one thread of a warp. ptxas knows that the elected thread is the only active one and issues its TMA
// instructions as they are. Under a comparison of thread numbers ptxas puts each TMA instruction into a loop
// over the warp's threads.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// elect.sync _|p, mask;
// PTX ISA 8.0, sm_90. SASS: ELECT.
// Executed by all threads of mask. Returns whether this thread is the elected one, which is the same thread
// every time.
template <class Dependent = void>
__device__ __forceinline__ bool elect_sync(uint32_t mask) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::elect_sync needs sm_90 or newer: compile with -arch=sm_90 or above");
  uint32_t p;
  asm volatile("{.reg .pred q; elect.sync _|q, %1; selp.b32 %0, 1, 0, q;}" : "=r"(p) : "r"(mask));
  return p != 0;
}

}  // namespace tenon::ptx
