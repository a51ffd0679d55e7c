// Stores from the registers of a thread to global memory.
//
// `address` points to global memory, at a multiple of the size stored. The forms with `predicate` store where
// it is not 0, by one predicated instruction: the compiler may turn an `if` around a store into a branch.
// st.u16 stores the lower half of a 32-bit register (PTX ISA, "Data Movement and Conversion Instructions:
// st").
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// st.global.b16 [address], b;
// PTX ISA 6.3, sm_75. SASS: STG.E.U16.
template <class Dependent = void>
__device__ __forceinline__ void st_global_b16(void* address, uint16_t b) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_global_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("st.global.b16 [%0], %1;" ::"l"(address), "h"(b) : "memory");
}

// st.global.b32 [address], b;
// PTX ISA 6.3, sm_75. SASS: STG.E.
template <class Dependent = void>
__device__ __forceinline__ void st_global_b32(void* address, uint32_t b) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_global_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("st.global.b32 [%0], %1;" ::"l"(address), "r"(b) : "memory");
}

// @predicate st.global.b16 [address], b;
// PTX ISA 6.3, sm_75. SASS: STG.E.U16.
template <class Dependent = void>
__device__ __forceinline__ void st_global_b16(void* address, uint16_t b, uint32_t predicate) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_global_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.global.b16 [%0], %1;}" ::"l"(address), "h"(b),
               "r"(predicate)
               : "memory");
}

// @predicate st.global.u16 [address], b;
// PTX ISA 6.3, sm_75. SASS: STG.E.U16.
template <class Dependent = void>
__device__ __forceinline__ void st_global_u16(void* address, uint32_t b, uint32_t predicate) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_global_u16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.global.u16 [%0], %1;}" ::"l"(address), "r"(b),
               "r"(predicate)
               : "memory");
}

// @predicate st.global.b32 [address], b;
// PTX ISA 6.3, sm_75. SASS: STG.E.
template <class Dependent = void>
__device__ __forceinline__ void st_global_b32(void* address, uint32_t b, uint32_t predicate) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_global_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.global.b32 [%0], %1;}" ::"l"(address), "r"(b),
               "r"(predicate)
               : "memory");
}

// @predicate st.global.v4.b32 [address], b;
// PTX ISA 6.3, sm_75. SASS: STG.E.128.
template <class Dependent = void>
__device__ __forceinline__ void st_global_v4_b32(void* address, const uint32_t (&b)[4], uint32_t predicate) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_global_v4_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile(
      "{.reg .pred p; setp.ne.s32 p, %5, 0; @p st.global.v4.b32 [%0], {%1, %2, %3, %4};}" ::"l"(address),
      "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(predicate)
      : "memory");
}

}  // namespace tenon::ptx
