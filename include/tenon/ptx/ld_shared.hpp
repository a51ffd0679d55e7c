// Loads from shared memory into the registers of a thread.
//
// `address` is a shared-window address (shared_address.hpp) and a multiple of the size loaded; v2 and v4 load
// 8 and 16 bytes. The compiler may move, split or merge a load through a pointer. It keeps the place and the
// width of these loads, in order with the stores of st_shared.hpp (PTX ISA, "Data Movement and Conversion
// Instructions: ld").
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// ld.shared.b16 d, [address];
// PTX ISA 6.3, sm_75. SASS: LDS.U16.
template <class Dependent = void>
__device__ __forceinline__ uint16_t ld_shared_b16(uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ld_shared_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint16_t d;
  asm volatile("ld.shared.b16 %0, [%1];" : "=h"(d) : "r"(address) : "memory");
  return d;
}

// ld.shared.u16 d, [address];
// PTX ISA 6.3, sm_75. SASS: LDS.U16.
// The upper half of d is 0.
template <class Dependent = void>
__device__ __forceinline__ uint32_t ld_shared_u16(uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ld_shared_u16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm volatile("ld.shared.u16 %0, [%1];" : "=r"(d) : "r"(address) : "memory");
  return d;
}

// ld.shared.b32 d, [address];
// PTX ISA 6.3, sm_75. SASS: LDS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t ld_shared_b32(uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ld_shared_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(d) : "r"(address) : "memory");
  return d;
}

// @predicate ld.shared.b32 d, [address];
// PTX ISA 6.3, sm_75. SASS: LDS.
// If predicate is 0, d keeps its value and nothing is loaded.
template <class Dependent = void>
__device__ __forceinline__ void ld_shared_b32(uint32_t& d, uint32_t address, uint32_t predicate) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ld_shared_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p ld.shared.b32 %0, [%1];}"
               : "+r"(d)
               : "r"(address), "r"(predicate)
               : "memory");
}

// ld.shared.v2.b32 d, [address];
// PTX ISA 6.3, sm_75. SASS: LDS.64.
template <class Dependent = void>
__device__ __forceinline__ void ld_shared_v2_b32(uint32_t (&d)[2], uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ld_shared_v2_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(address) : "memory");
}

// ld.shared.v2.s32 d, [address];
// PTX ISA 6.3, sm_75. SASS: LDS.64.
template <class Dependent = void>
__device__ __forceinline__ void ld_shared_v2_s32(int32_t (&d)[2], uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ld_shared_v2_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ld.shared.v2.s32 {%0, %1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(address) : "memory");
}

// ld.shared.v2.f32 d, [address];
// PTX ISA 6.3, sm_75. SASS: LDS.64.
template <class Dependent = void>
__device__ __forceinline__ void ld_shared_v2_f32(float (&d)[2], uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ld_shared_v2_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(d[0]), "=f"(d[1]) : "r"(address) : "memory");
}

// ld.shared.v4.b32 d, [address];
// PTX ISA 6.3, sm_75. SASS: LDS.128.
template <class Dependent = void>
__device__ __forceinline__ void ld_shared_v4_b32(uint32_t (&d)[4], uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ld_shared_v4_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

// ld.shared.v4.f32 d, [address];
// PTX ISA 6.3, sm_75. SASS: LDS.128.
template <class Dependent = void>
__device__ __forceinline__ void ld_shared_v4_f32(float (&d)[4], uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ld_shared_v4_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(address)
               : "memory");
}

}  // namespace tenon::ptx
