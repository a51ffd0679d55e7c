// Special registers that CUDA C++ has no variable for.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mov.u32 d, %laneid;
// PTX ISA 6.3, sm_75. SASS: S2R.
// This thread's lane in its warp, for a block of any shape.
template <class Dependent = void>
__device__ __forceinline__ uint32_t mov_u32_laneid() {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mov_u32_laneid needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm("mov.u32 %0, %%laneid;" : "=r"(d));
  return d;
}

}  // namespace tenon::ptx
