// Approximations of the special function unit (MUFU).
//
// The asm statements are not volatile: the compiler may merge, move or drop them. (PTX ISA, "Floating Point
// Instructions: ex2, tanh".)
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// ex2.approx.ftz.f32 d, a;
// PTX ISA 6.3, sm_75. SASS: MUFU.EX2.
// 2^a, with a relative error of at most 2^-22.5. Subnormals are flushed to 0; 2^-infinity is 0.
template <class Dependent = void>
__device__ __forceinline__ float ex2_approx_ftz_f32(float a) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ex2_approx_ftz_f32 needs sm_75 or newer: compile with -arch=sm_75 or above");
  float d;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a));
  return d;
}

// tanh.approx.f32 d, a;
// PTX ISA 7.0, sm_75. SASS: MUFU.TANH.
// With a relative error of about 2^-11.
template <class Dependent = void>
__device__ __forceinline__ float tanh_approx_f32(float a) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::tanh_approx_f32 needs sm_75 or newer: compile with -arch=sm_75 or above");
  float d;
  asm("tanh.approx.f32 %0, %1;" : "=f"(d) : "f"(a));
  return d;
}

}  // namespace tenon::ptx
