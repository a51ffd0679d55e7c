// Conversions from f32 to the operand types of 16 bits and to tf32, and back.
//
// As in PTX, a form that packs two values takes the upper one first: cvt_rn_f16x2_f32(x[1], x[0]) puts
// x[0], the lower k, in the low half, where mma expects it. .rn rounds to nearest even, .rna to nearest and
// ties away from zero, .rz toward zero, .relu turns negative values into +0, .satfinite turns what is too
// large into the largest finite value. NaN becomes the canonical NaN of the result type. Narrower types:
// convert_fp8.hpp, convert_narrow.hpp, convert_integer.hpp; random rounding: convert_stochastic.hpp.
//
// The asm statements are not volatile: the compiler may merge, move or drop a conversion. (PTX ISA, "Data
// Movement and Conversion Instructions: cvt".)
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// cvt.rn.f16.f32 d, a;
// PTX ISA 6.3, sm_75. SASS: F2FP.F16.F32.PACK_AB (on sm_75 F2F.F16.F32).
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_f16_f32(float a) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_rn_f16_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint16_t d;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

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

// cvt.rn.satfinite.f16.f32 d, a;
// PTX ISA 8.1, sm_75. SASS: F2FP.SATFINITE.F16.F32.MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_f16_f32(float a) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_f16_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint16_t d;
  asm("cvt.rn.satfinite.f16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rn.satfinite.f16x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.F16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_satfinite_f16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_f16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.bf16.f32 d, a;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.BF16.F32.MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_bf16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rn.satfinite.bf16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rn.satfinite.bf16x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.BF16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_satfinite_bf16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_bf16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.tf32.f32 d, a;
// PTX ISA 8.6, sm_100. SASS: F2FP.SATFINITE.TF32.F32.PACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_satfinite_tf32_f32(float a) {
  static_assert(sm_at_least<100, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_tf32_f32 needs sm_100 or newer: "
                "compile with -arch=sm_100 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_tf32_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rn.satfinite.tf32.f32 %0, %1;" : "=r"(d) : "f"(a));
  return d;
}

// cvt.rn.relu.f16.f32 d, a;
// PTX ISA 7.0, sm_80. SASS: F2FP.RELU.F16.F32.MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_relu_f16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_relu_f16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rn.relu.f16.f32 %0, %1;" : "=h"(d) : "f"(a));
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

// cvt.rn.relu.bf16.f32 d, a;
// PTX ISA 7.0, sm_80. SASS: F2FP.RELU.BF16.F32.MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_relu_bf16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_relu_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rn.relu.bf16.f32 %0, %1;" : "=h"(d) : "f"(a));
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

// cvt.rn.relu.tf32.f32 d, a;
// PTX ISA 7.8, sm_90. SASS: F2FP.RELU.TF32.F32.PACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_relu_tf32_f32(float a) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::cvt_rn_relu_tf32_f32 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  uint32_t d;
  asm("cvt.rn.relu.tf32.f32 %0, %1;" : "=r"(d) : "f"(a));
  return d;
}

// cvt.rn.relu.satfinite.f16.f32 d, a;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.RELU.F16.F32.MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_relu_satfinite_f16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_relu_satfinite_f16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rn.relu.satfinite.f16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rn.relu.satfinite.f16x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.RELU.F16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_relu_satfinite_f16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_relu_satfinite_f16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rn.relu.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.relu.satfinite.bf16.f32 d, a;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.RELU.BF16.F32.MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_relu_satfinite_bf16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_relu_satfinite_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rn.relu.satfinite.bf16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rn.relu.satfinite.bf16x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.RELU.BF16.F32.PACK_AB.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_relu_satfinite_bf16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rn_relu_satfinite_bf16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rn.relu.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.satfinite.relu.tf32.f32 d, a;
// PTX ISA 8.6, sm_100. SASS: F2FP.SATFINITE.RELU.TF32.F32.PACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_satfinite_relu_tf32_f32(float a) {
  static_assert(sm_at_least<100, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_tf32_f32 needs sm_100 or newer: "
                "compile with -arch=sm_100 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_tf32_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rn.satfinite.relu.tf32.f32 %0, %1;" : "=r"(d) : "f"(a));
  return d;
}

// cvt.rz.f16.f32 d, a;
// PTX ISA 6.3, sm_75. SASS: F2FP.F16.F32.PACK_AB.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_f16_f32(float a) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_rz_f16_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint16_t d;
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(d) : "f"(a));
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

// cvt.rz.bf16.f32 d, a;
// PTX ISA 7.0, sm_80. SASS: F2FP.BF16.F32.PACK_AB.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_bf16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(d) : "f"(a));
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

// cvt.rz.tf32.f32 d, a;
// PTX ISA 7.8, sm_90. SASS: F2FP.TF32.F32.PACK_B.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_tf32_f32(float a) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::cvt_rz_tf32_f32 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  uint32_t d;
  asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(d) : "f"(a));
  return d;
}

// cvt.rz.satfinite.f16.f32 d, a;
// PTX ISA 8.1, sm_75. SASS: F2FP.SATFINITE.F16.F32.MERGE_C.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_satfinite_f16_f32(float a) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::cvt_rz_satfinite_f16_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint16_t d;
  asm("cvt.rz.satfinite.f16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rz.satfinite.f16x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.F16.F32.PACK_AB.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_satfinite_f16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_satfinite_f16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rz.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rz.satfinite.bf16.f32 d, a;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.BF16.F32.MERGE_C.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_satfinite_bf16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_satfinite_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rz.satfinite.bf16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rz.satfinite.bf16x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.BF16.F32.PACK_AB.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_satfinite_bf16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_satfinite_bf16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rz.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rz.satfinite.tf32.f32 d, a;
// PTX ISA 8.6, sm_100. SASS: F2FP.SATFINITE.TF32.F32.PACK_B.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_satfinite_tf32_f32(float a) {
  static_assert(sm_at_least<100, Dependent>,
                "tenon::ptx::cvt_rz_satfinite_tf32_f32 needs sm_100 or newer: "
                "compile with -arch=sm_100 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rz_satfinite_tf32_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rz.satfinite.tf32.f32 %0, %1;" : "=r"(d) : "f"(a));
  return d;
}

// cvt.rz.relu.f16.f32 d, a;
// PTX ISA 7.0, sm_80. SASS: F2FP.RELU.F16.F32.MERGE_C.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_relu_f16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_relu_f16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rz.relu.f16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rz.relu.f16x2.f32 d, upper, lower;
// PTX ISA 7.0, sm_80. SASS: F2FP.RELU.F16.F32.PACK_AB.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_relu_f16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_relu_f16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rz.relu.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rz.relu.bf16.f32 d, a;
// PTX ISA 7.0, sm_80. SASS: F2FP.RELU.BF16.F32.MERGE_C.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_relu_bf16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_relu_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rz.relu.bf16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rz.relu.bf16x2.f32 d, upper, lower;
// PTX ISA 7.0, sm_80. SASS: F2FP.RELU.BF16.F32.PACK_AB.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_relu_bf16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_relu_bf16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rz.relu.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rz.relu.tf32.f32 d, a;
// PTX ISA 7.8, sm_90. SASS: F2FP.RELU.TF32.F32.PACK_B.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_relu_tf32_f32(float a) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::cvt_rz_relu_tf32_f32 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  uint32_t d;
  asm("cvt.rz.relu.tf32.f32 %0, %1;" : "=r"(d) : "f"(a));
  return d;
}

// cvt.rz.relu.satfinite.f16.f32 d, a;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.RELU.F16.F32.MERGE_C.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_relu_satfinite_f16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_relu_satfinite_f16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rz.relu.satfinite.f16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rz.relu.satfinite.f16x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.RELU.F16.F32.PACK_AB.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_relu_satfinite_f16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_relu_satfinite_f16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rz.relu.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rz.relu.satfinite.bf16.f32 d, a;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.RELU.BF16.F32.MERGE_C.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_relu_satfinite_bf16_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_relu_satfinite_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint16_t d;
  asm("cvt.rz.relu.satfinite.bf16.f32 %0, %1;" : "=h"(d) : "f"(a));
  return d;
}

// cvt.rz.relu.satfinite.bf16x2.f32 d, upper, lower;
// PTX ISA 8.1, sm_80. SASS: F2FP.SATFINITE.RELU.BF16.F32.PACK_AB.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_relu_satfinite_bf16x2_f32(float upper, float lower) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rz_relu_satfinite_bf16x2_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rz.relu.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rz.satfinite.relu.tf32.f32 d, a;
// PTX ISA 8.6, sm_100. SASS: F2FP.SATFINITE.RELU.TF32.F32.PACK_B.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rz_satfinite_relu_tf32_f32(float a) {
  static_assert(sm_at_least<100, Dependent>,
                "tenon::ptx::cvt_rz_satfinite_relu_tf32_f32 needs sm_100 or newer: "
                "compile with -arch=sm_100 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rz_satfinite_relu_tf32_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rz.satfinite.relu.tf32.f32 %0, %1;" : "=r"(d) : "f"(a));
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

// cvt.rna.satfinite.tf32.f32 d, a;
// PTX ISA 8.1, sm_80. SASS: emulated by FSETP.GEU.AND and 3 integer operations.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rna_satfinite_tf32_f32(float a) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cvt_rna_satfinite_tf32_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  uint32_t d;
  asm("cvt.rna.satfinite.tf32.f32 %0, %1;" : "=r"(d) : "f"(a));
  return d;
}

// cvt.f32.f16 d, a;
// PTX ISA 6.3, sm_75. SASS: HADD2.F32.
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

}  // namespace tenon::ptx
