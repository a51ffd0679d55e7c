// Conversions of s32 to packed integers of 16, 8, 4 or 2 bits, saturated.
//
// cvt.pack.sat clamps two s32 to the narrow type and puts the pair, `lower` lowest, in the low bits; below
// 16 bits it first shifts `rest` left by two elements, so that two calls pack four 8-bit values and four
// calls eight 4-bit values, the highest k first.
//
// The asm statements are not volatile: the compiler may merge, move or drop a conversion. (PTX ISA, "Data
// Movement and Conversion Instructions: cvt.pack".)
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// cvt.pack.sat.u16.s32 d, upper, lower;
// PTX ISA 6.5, sm_75. SASS: I2IP.U16.S32.SAT.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_pack_sat_u16_s32(int32_t upper, int32_t lower) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_pack_sat_u16_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(d) : "r"(upper), "r"(lower));
  return d;
}

// cvt.pack.sat.s16.s32 d, upper, lower;
// PTX ISA 6.5, sm_75. SASS: I2IP.S16.S32.SAT.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_pack_sat_s16_s32(int32_t upper, int32_t lower) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_pack_sat_s16_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(d) : "r"(upper), "r"(lower));
  return d;
}

// cvt.pack.sat.u8.s32.b32 d, upper, lower, rest;
// PTX ISA 6.5, sm_75. SASS: I2IP.U8.S32.SAT.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_pack_sat_u8_s32_b32(int32_t upper, int32_t lower, uint32_t rest) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_pack_sat_u8_s32_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(upper), "r"(lower), "r"(rest));
  return d;
}

// cvt.pack.sat.s8.s32.b32 d, upper, lower, rest;
// PTX ISA 6.5, sm_75. SASS: I2IP.S8.S32.SAT.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_pack_sat_s8_s32_b32(int32_t upper, int32_t lower, uint32_t rest) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_pack_sat_s8_s32_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(upper), "r"(lower), "r"(rest));
  return d;
}

// cvt.pack.sat.u4.s32.b32 d, upper, lower, rest;
// PTX ISA 6.5, sm_75. SASS: I2IP.U4.S32.SAT.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_pack_sat_u4_s32_b32(int32_t upper, int32_t lower, uint32_t rest) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_pack_sat_u4_s32_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm("cvt.pack.sat.u4.s32.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(upper), "r"(lower), "r"(rest));
  return d;
}

// cvt.pack.sat.s4.s32.b32 d, upper, lower, rest;
// PTX ISA 6.5, sm_75. SASS: I2IP.S4.S32.SAT.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_pack_sat_s4_s32_b32(int32_t upper, int32_t lower, uint32_t rest) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_pack_sat_s4_s32_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm("cvt.pack.sat.s4.s32.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(upper), "r"(lower), "r"(rest));
  return d;
}

// cvt.pack.sat.u2.s32.b32 d, upper, lower, rest;
// PTX ISA 6.5, sm_75. SASS: I2IP.U2.S32.SAT.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_pack_sat_u2_s32_b32(int32_t upper, int32_t lower, uint32_t rest) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_pack_sat_u2_s32_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm("cvt.pack.sat.u2.s32.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(upper), "r"(lower), "r"(rest));
  return d;
}

// cvt.pack.sat.s2.s32.b32 d, upper, lower, rest;
// PTX ISA 6.5, sm_75. SASS: I2IP.S2.S32.SAT.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_pack_sat_s2_s32_b32(int32_t upper, int32_t lower, uint32_t rest) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_pack_sat_s2_s32_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm("cvt.pack.sat.s2.s32.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(upper), "r"(lower), "r"(rest));
  return d;
}

}  // namespace tenon::ptx
