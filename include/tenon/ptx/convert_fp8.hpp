// Conversions between f32 or f16 and pairs of fp8: e4m3 (largest value 448, no infinity) and e5m2 (57344).
//
// As in PTX, a form that packs two values takes the upper one first, and the lower one lands in the low
// byte. Always rounded to nearest even and saturated to the largest finite value; .relu turns negative
// values into +0. From fp8 to f16 is exact.
//
// The asm statements are not volatile: the compiler may merge, move or drop a conversion. (PTX ISA, "Data
// Movement and Conversion Instructions: cvt".)
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// cvt.rn.satfinite.e4m3x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e4m3x2_f32(float upper, float lower) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e4m3x2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint16_t d;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.e4m3x2.f16x2 d, a;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.E4M3.F16.UNPACK_B_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e4m3x2_f16x2(uint32_t a) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e4m3x2_f16x2 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint16_t d;
  asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(d) : "r"(a));
  return d;
}

// cvt.rn.f16x2.e4m3x2 d, a;
// PTX ISA 8.1, sm_89. SASS: F2FP.F16.E4M3.UNPACK_B.
// Exact.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_f16x2_e4m3x2(uint16_t a) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_f16x2_e4m3x2 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint32_t d;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(d) : "h"(a));
  return d;
}

// cvt.rn.satfinite.relu.e4m3x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.RELU.E4M3.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_relu_e4m3x2_f32(float upper, float lower) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e4m3x2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint16_t d;
  asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.relu.e4m3x2.f16x2 d, a;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.RELU.E4M3.F16.UNPACK_B_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_relu_e4m3x2_f16x2(uint32_t a) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e4m3x2_f16x2 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint16_t d;
  asm("cvt.rn.satfinite.relu.e4m3x2.f16x2 %0, %1;" : "=h"(d) : "r"(a));
  return d;
}

// cvt.rn.relu.f16x2.e4m3x2 d, a;
// PTX ISA 8.1, sm_89. SASS: F2FP.RELU.F16.E4M3.UNPACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_relu_f16x2_e4m3x2(uint16_t a) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_relu_f16x2_e4m3x2 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint32_t d;
  asm("cvt.rn.relu.f16x2.e4m3x2 %0, %1;" : "=r"(d) : "h"(a));
  return d;
}

// cvt.rn.satfinite.e5m2x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.E5M2.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e5m2x2_f32(float upper, float lower) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e5m2x2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint16_t d;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.e5m2x2.f16x2 d, a;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.E5M2.F16.UNPACK_B_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e5m2x2_f16x2(uint32_t a) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e5m2x2_f16x2 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint16_t d;
  asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(d) : "r"(a));
  return d;
}

// cvt.rn.f16x2.e5m2x2 d, a;
// PTX ISA 8.1, sm_89. SASS: F2FP.F16.E5M2.UNPACK_B.
// Exact.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_f16x2_e5m2x2(uint16_t a) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_f16x2_e5m2x2 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint32_t d;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(d) : "h"(a));
  return d;
}

// cvt.rn.satfinite.relu.e5m2x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.RELU.E5M2.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_relu_e5m2x2_f32(float upper, float lower) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e5m2x2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint16_t d;
  asm("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.relu.e5m2x2.f16x2 d, a;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.RELU.E5M2.F16.UNPACK_B_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_relu_e5m2x2_f16x2(uint32_t a) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e5m2x2_f16x2 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint16_t d;
  asm("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;" : "=h"(d) : "r"(a));
  return d;
}

// cvt.rn.relu.f16x2.e5m2x2 d, a;
// PTX ISA 8.1, sm_89. SASS: F2FP.RELU.F16.E5M2.UNPACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_relu_f16x2_e5m2x2(uint16_t a) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_relu_f16x2_e5m2x2 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  uint32_t d;
  asm("cvt.rn.relu.f16x2.e5m2x2 %0, %1;" : "=r"(d) : "h"(a));
  return d;
}

}  // namespace tenon::ptx
