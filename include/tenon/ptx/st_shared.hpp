// Stores from the registers of a thread to shared memory.
//
// `address` is a shared-window address (shared_address.hpp) and a multiple of the size stored; v2 and v4
// store 8 and 16 bytes. As with the loads of ld_shared.hpp, the compiler neither moves nor splits nor merges
// them (PTX ISA, "Data Movement and Conversion Instructions: st").
//
// The stores to .shared::cluster write to any block of the cluster: address is what mapa returns
// (cluster.hpp).
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// st.shared.b16 [address], b;
// PTX ISA 6.3, sm_75. SASS: STS.U16.
template <class Dependent = void>
__device__ __forceinline__ void st_shared_b16(uint32_t address, uint16_t b) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_shared_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"(b) : "memory");
}

// st.shared.b32 [address], b;
// PTX ISA 6.3, sm_75. SASS: STS.
template <class Dependent = void>
__device__ __forceinline__ void st_shared_b32(uint32_t address, uint32_t b) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_shared_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(b) : "memory");
}

// st.shared.f32 [address], b;
// PTX ISA 6.3, sm_75. SASS: STS.
template <class Dependent = void>
__device__ __forceinline__ void st_shared_f32(uint32_t address, float b) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_shared_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(b) : "memory");
}

// st.shared.v2.b32 [address], b;
// PTX ISA 6.3, sm_75. SASS: STS.64.
template <class Dependent = void>
__device__ __forceinline__ void st_shared_v2_b32(uint32_t address, const uint32_t (&b)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_shared_v2_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(b[0]), "r"(b[1]) : "memory");
}

// st.shared.v2.f32 [address], b;
// PTX ISA 6.3, sm_75. SASS: STS.64.
template <class Dependent = void>
__device__ __forceinline__ void st_shared_v2_f32(uint32_t address, const float (&b)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_shared_v2_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(b[0]), "f"(b[1]) : "memory");
}

// st.shared.v4.b32 [address], b;
// PTX ISA 6.3, sm_75. SASS: STS.128.
template <class Dependent = void>
__device__ __forceinline__ void st_shared_v4_b32(uint32_t address, const uint32_t (&b)[4]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::st_shared_v4_b32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(b[0]), "r"(b[1]), "r"(b[2]),
               "r"(b[3])
               : "memory");
}

// st.shared::cluster.v2.b32 [address], b;
// PTX ISA 7.8, sm_90. SASS: ST.E.64.
template <class Dependent = void>
__device__ __forceinline__ void st_shared_cluster_v2_b32(uint32_t address, const uint32_t (&b)[2]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::st_shared_cluster_v2_b32 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("st.shared::cluster.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(b[0]), "r"(b[1]) : "memory");
}

// st.shared::cluster.v2.s32 [address], b;
// PTX ISA 7.8, sm_90. SASS: ST.E.64.
template <class Dependent = void>
__device__ __forceinline__ void st_shared_cluster_v2_s32(uint32_t address, const int32_t (&b)[2]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::st_shared_cluster_v2_s32 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("st.shared::cluster.v2.s32 [%0], {%1, %2};" ::"r"(address), "r"(b[0]), "r"(b[1]) : "memory");
}

// st.shared::cluster.v2.f32 [address], b;
// PTX ISA 7.8, sm_90. SASS: ST.E.64.
template <class Dependent = void>
__device__ __forceinline__ void st_shared_cluster_v2_f32(uint32_t address, const float (&b)[2]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::st_shared_cluster_v2_f32 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(b[0]), "f"(b[1]) : "memory");
}

}  // namespace tenon::ptx
