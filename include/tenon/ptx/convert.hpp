// Conversions between f32 or s32 and the packed operand types of mma.
//
// As in PTX, a form that packs two values takes the upper one first: cvt_rn_f16x2_f32(x[1], x[0]) puts x[0],
// the lower k, in the low half, where mma wants it. .rn rounds to nearest even, .rz toward zero, .relu turns
// negative values into +0, .satfinite turns what is too large into the largest finite value. NaN becomes the
// canonical NaN of the result type.
//
// cvt.pack.sat clamps two s32 to the narrow type, shifts `rest` left by two elements and puts the pair,
// `lower` lowest, below: two calls pack four 8-bit values, four calls eight 4-bit values, the highest k
// first.
//
// A conversion is no warp-wide instruction: plain asm, which the compiler may merge, move or drop. (PTX ISA,
// "Data Movement and Conversion Instructions: cvt" and "cvt.pack".)
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// cvt.rn.f16x2.f32 d, upper, lower;
// PTX ISA 7.0, sm_80. SASS: F2FP.F16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_f16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_f16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rz.f16x2.f32 d, upper, lower;
// PTX ISA 7.0, sm_80. SASS: F2FP.F16.F32.PACK_AB.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_f16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_f16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.relu.f16x2.f32 d, upper, lower;
// PTX ISA 7.0, sm_80. SASS: F2FP.RELU.F16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_relu_f16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_relu_f16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.f16x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.F16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_satfinite_f16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_f16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(cuda_at_least<12, 1, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_f16x2_f32 needs PTX ISA 8.1: "
                "compile with CUDA 12.1 or newer");
  uint32_t d;
  asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.bf16x2.f32 d, upper, lower;
// PTX ISA 7.0, sm_80. SASS: F2FP.BF16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_bf16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_bf16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rz.bf16x2.f32 d, upper, lower;
// PTX ISA 7.0, sm_80. SASS: F2FP.BF16.F32.PACK_AB.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_bf16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_bf16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rz.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.relu.bf16x2.f32 d, upper, lower;
// PTX ISA 7.0, sm_80. SASS: F2FP.RELU.BF16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_relu_bf16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_relu_bf16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.bf16x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.BF16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_satfinite_bf16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_bf16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(cuda_at_least<12, 1, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_bf16x2_f32 needs PTX ISA 8.1: "
                "compile with CUDA 12.1 or newer");
  uint32_t d;
  asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.f16.f32 d, a;
// PTX ISA 2.3, sm_75. SASS: F2FP.F16.F32.PACK_AB (on sm_75 F2F.F16.F32).
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_f16_f32(float a) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_rn_f16_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint16_t d;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rn.bf16.f32 d, a;
// PTX ISA 7.0, sm_80. SASS: F2FP.BF16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_bf16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.f32.f16 d, a;
// PTX ISA 2.3, sm_75. SASS: HADD2.F32.
template <class Dependent = void>
__device__ __forceinline__ float cvt_f32_f16(uint16_t a) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_f32_f16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  float d;
  asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"(a));
  return d;
}

// cvt.f32.bf16 d, a;
// PTX ISA 7.1, sm_80. SASS: SHF.L.U32, a shift.
template <class Dependent = void>
__device__ __forceinline__ float cvt_f32_bf16(uint16_t a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_f32_bf16 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  float d;
  asm("cvt.f32.bf16 %0, %1;" : "=f"(d) : "h"(a));
  return d;
}

// cvt.rna.tf32.f32 d, a;
// PTX ISA 7.0, sm_80. SASS: emulated by FSETP, LOP3.LUT and an addition.
// To nearest, ties away from zero; the low 13 bits of the result are zero.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rna_tf32_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rna_tf32_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(d) : "f"(a));
  return d;
}

// cvt.rn.tf32.f32 d, a;
// PTX ISA 7.8, sm_90. SASS: F2FP.TF32.F32.PACK_B.
// To nearest, ties to even.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_tf32_f32(float a) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::cvt_rn_tf32_f32 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  uint32_t d;
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(d) : "f"(a));
  return d;
}

// cvt.rn.satfinite.e4m3x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e4m3x2_f32(float upper, float lower) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e4m3x2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 1, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e4m3x2_f32 needs PTX ISA 8.1: "
                "compile with CUDA 12.1 or newer");
  uint16_t d;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.relu.e4m3x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.RELU.E4M3.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_relu_e4m3x2_f32(float upper, float lower) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e4m3x2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 1, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e4m3x2_f32 needs PTX ISA 8.1: "
                "compile with CUDA 12.1 or newer");
  uint16_t d;
  asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.e4m3x2.f16x2 d, a;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.E4M3.F16.UNPACK_B_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e4m3x2_f16x2(uint32_t a) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e4m3x2_f16x2 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 1, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e4m3x2_f16x2 needs PTX ISA 8.1: "
                "compile with CUDA 12.1 or newer");
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
  static_assert(cuda_at_least<12, 1, Dependent>,
                "tenon::ptx::cvt_rn_f16x2_e4m3x2 needs PTX ISA 8.1: "
                "compile with CUDA 12.1 or newer");
  uint32_t d;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(d) : "h"(a));
  return d;
}

// cvt.rn.satfinite.e5m2x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.E5M2.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e5m2x2_f32(float upper, float lower) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e5m2x2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 1, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e5m2x2_f32 needs PTX ISA 8.1: "
                "compile with CUDA 12.1 or newer");
  uint16_t d;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.relu.e5m2x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.RELU.E5M2.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_relu_e5m2x2_f32(float upper, float lower) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e5m2x2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 1, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e5m2x2_f32 needs PTX ISA 8.1: "
                "compile with CUDA 12.1 or newer");
  uint16_t d;
  asm("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.e5m2x2.f16x2 d, a;
// PTX ISA 8.1, sm_89. SASS: F2FP.SATFINITE.E5M2.F16.UNPACK_B_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e5m2x2_f16x2(uint32_t a) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e5m2x2_f16x2 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 1, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e5m2x2_f16x2 needs PTX ISA 8.1: "
                "compile with CUDA 12.1 or newer");
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
  static_assert(cuda_at_least<12, 1, Dependent>,
                "tenon::ptx::cvt_rn_f16x2_e5m2x2 needs PTX ISA 8.1: "
                "compile with CUDA 12.1 or newer");
  uint32_t d;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(d) : "h"(a));
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

}  // namespace tenon::ptx
