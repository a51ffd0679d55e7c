// Moves registers between the warpgroups of a block: the producer gives up registers that the consumers need.
// All warps of a warpgroup execute it. ptxas ignores it (note C7508) unless the kernel states both arguments
// of __launch_bounds__, or __maxnreg__ (PTX ISA, "setmaxnreg").
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// setmaxnreg.inc.sync.aligned.u32 registers;
// PTX ISA 8.0, sm_90a. SASS: USETMAXREG.TRY_ALLOC.CTAPOOL.
// Waits until the registers are available. registers: a multiple of 8, from 24 to 256.
template <int registers, class Dependent = void>
__device__ __forceinline__ void setmaxnreg_inc_sync_aligned_u32() {
  static_assert(is_specific_target<Dependent, 90, 100, 103, 110, 120, 121>,
                "tenon::ptx::setmaxnreg_inc_sync_aligned_u32 needs sm_90a, sm_100a, sm_103a, sm_110a, "
                "sm_120a or sm_121a: "
                "compile with -gencode arch=compute_90a,code=sm_90a "
                "(-arch=sm_90a compiles for compute_90, too)");
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0,
                "setmaxnreg: registers must be a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

// setmaxnreg.dec.sync.aligned.u32 registers;
// PTX ISA 8.0, sm_90a. SASS: USETMAXREG.DEALLOC.CTAPOOL.
template <int registers, class Dependent = void>
__device__ __forceinline__ void setmaxnreg_dec_sync_aligned_u32() {
  static_assert(is_specific_target<Dependent, 90, 100, 103, 110, 120, 121>,
                "tenon::ptx::setmaxnreg_dec_sync_aligned_u32 needs sm_90a, sm_100a, sm_103a, sm_110a, "
                "sm_120a or sm_121a: "
                "compile with -gencode arch=compute_90a,code=sm_90a "
                "(-arch=sm_90a compiles for compute_90, too)");
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0,
                "setmaxnreg: registers must be a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

}  // namespace tenon::ptx
