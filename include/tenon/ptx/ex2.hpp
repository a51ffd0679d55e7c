// The base-2 exponential of the special function unit, for softmax.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// ex2.approx.ftz.f32 d, a;
// PTX ISA 6.3, sm_75. SASS: MUFU.EX2.
// 2^a within 2 ulp, subnormal arguments and results flushed to zero: one instruction, where exp2f() and the
// form without .ftz scale subnormal arguments with three more. 2^-infinity is 0.
template <class Dependent = void>
__device__ __forceinline__ float ex2_approx_ftz_f32(float a) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ex2_approx_ftz_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  float d;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a));
  return d;
}

}  // namespace tenon::ptx
