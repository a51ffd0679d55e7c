// Conversions between f32 or f16 and pairs of 6- and 4-bit floats, and of the ue8m0 scales of block-scaled
// mma.
//
// From sm_100a on, architecture-specific targets only. A pair of e2m3 or e3m2 is two bytes, with each element
// in bits 0-5; a pair of e2m1 is one byte; ue8m0 is an exponent, 2^(byte - 127), which .rp rounds up and .rz
// rounds down. As in PTX the upper value comes first and the lower one lands in the low byte or nibble.
// Conversions to e2m3, e3m2 and e2m1 round to nearest even and saturate; .relu turns negative values into +0.
// Conversions back are exact.
//
// The PTX ISA has f16 to e2m1 since version 9.1. ptxas 13.0 knows only 9.0 but has it; ptxas 13.1 and newer
// refuse it in PTX that says an older version, and nvcc 13.0 writes 9.0. So build for the target itself.
//
// The asm statements are not volatile: the compiler may merge, move or drop a conversion. (PTX ISA, "Data
// Movement and Conversion Instructions: cvt".)
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// cvt.rn.satfinite.e2m3x2.f32 d, upper, lower;
// PTX ISA 8.6, sm_100a. SASS: F2FP.SATFINITE.E2M3.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e2m3x2_f32(float upper, float lower) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rn_satfinite_e2m3x2_f32 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e2m3x2_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.f16x2.e2m3x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.F16.E2M3.UNPACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_f16x2_e2m3x2(uint16_t a) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rn_f16x2_e2m3x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_f16x2_e2m3x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(d) : "h"(a));
  return d;
}

// cvt.rn.satfinite.relu.e2m3x2.f32 d, upper, lower;
// PTX ISA 8.6, sm_100a. SASS: F2FP.SATFINITE.RELU.E2M3.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_relu_e2m3x2_f32(float upper, float lower) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rn_satfinite_relu_e2m3x2_f32 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e2m3x2_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rn.satfinite.relu.e2m3x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.relu.f16x2.e2m3x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.RELU.F16.E2M3.UNPACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_relu_f16x2_e2m3x2(uint16_t a) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rn_relu_f16x2_e2m3x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_relu_f16x2_e2m3x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rn.relu.f16x2.e2m3x2 %0, %1;" : "=r"(d) : "h"(a));
  return d;
}

// cvt.rn.satfinite.e3m2x2.f32 d, upper, lower;
// PTX ISA 8.6, sm_100a. SASS: F2FP.SATFINITE.E3M2.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e3m2x2_f32(float upper, float lower) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rn_satfinite_e3m2x2_f32 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e3m2x2_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rn.satfinite.e3m2x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.f16x2.e3m2x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.F16.E3M2.UNPACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_f16x2_e3m2x2(uint16_t a) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rn_f16x2_e3m2x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_f16x2_e3m2x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rn.f16x2.e3m2x2 %0, %1;" : "=r"(d) : "h"(a));
  return d;
}

// cvt.rn.satfinite.relu.e3m2x2.f32 d, upper, lower;
// PTX ISA 8.6, sm_100a. SASS: F2FP.SATFINITE.RELU.E3M2.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rn_satfinite_relu_e3m2x2_f32(float upper, float lower) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rn_satfinite_relu_e3m2x2_f32 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e3m2x2_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rn.satfinite.relu.e3m2x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rn.relu.f16x2.e3m2x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.RELU.F16.E3M2.UNPACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_relu_f16x2_e3m2x2(uint16_t a) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rn_relu_f16x2_e3m2x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_relu_f16x2_e3m2x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rn.relu.f16x2.e3m2x2 %0, %1;" : "=r"(d) : "h"(a));
  return d;
}

// cvt.rn.satfinite.e2m1x2.f32 d, upper, lower;
// PTX ISA 8.6, sm_100a. SASS: F2FP.SATFINITE.E2M1.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint8_t cvt_rn_satfinite_e2m1x2_f32(float upper, float lower) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rn_satfinite_e2m1x2_f32 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e2m1x2_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("{ .reg .b8 byte; cvt.rn.satfinite.e2m1x2.f32 byte, %1, %2; mov.b16 %0, {byte, 0}; }"
      : "=h"(d)
      : "f"(upper), "f"(lower));
  return static_cast<uint8_t>(d);
}

// cvt.rn.satfinite.e2m1x2.f16x2 d, a;
// PTX ISA 9.1, sm_100a. SASS: F2FP.SATFINITE.E2M1.F16.UNPACK_B_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint8_t cvt_rn_satfinite_e2m1x2_f16x2(uint32_t a) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rn_satfinite_e2m1x2_f16x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<13, 0, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_e2m1x2_f16x2 needs PTX ISA 9.1: "
                "compile with CUDA 13.0 or newer");
  uint16_t d;
  asm("{ .reg .b8 byte; cvt.rn.satfinite.e2m1x2.f16x2 byte, %1; mov.b16 %0, {byte, 0}; }" : "=h"(d) : "r"(a));
  return static_cast<uint8_t>(d);
}

// cvt.rn.f16x2.e2m1x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.F16.E2M1.UNPACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_f16x2_e2m1x2(uint8_t a) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rn_f16x2_e2m1x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_f16x2_e2m1x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("{ .reg .b8 byte, none; mov.b16 {byte, none}, %1; cvt.rn.f16x2.e2m1x2 %0, byte; }"
      : "=r"(d)
      : "h"(uint16_t{a}));
  return d;
}

// cvt.rn.satfinite.relu.e2m1x2.f32 d, upper, lower;
// PTX ISA 8.6, sm_100a. SASS: F2FP.SATFINITE.RELU.E2M1.F32.PACK_AB_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint8_t cvt_rn_satfinite_relu_e2m1x2_f32(float upper, float lower) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rn_satfinite_relu_e2m1x2_f32 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e2m1x2_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("{ .reg .b8 byte; cvt.rn.satfinite.relu.e2m1x2.f32 byte, %1, %2; mov.b16 %0, {byte, 0}; }"
      : "=h"(d)
      : "f"(upper), "f"(lower));
  return static_cast<uint8_t>(d);
}

// cvt.rn.satfinite.relu.e2m1x2.f16x2 d, a;
// PTX ISA 9.1, sm_100a. SASS: F2FP.SATFINITE.RELU.E2M1.F16.UNPACK_B_MERGE_C.
template <class Dependent = void>
__device__ __forceinline__ uint8_t cvt_rn_satfinite_relu_e2m1x2_f16x2(uint32_t a) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rn_satfinite_relu_e2m1x2_f16x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<13, 0, Dependent>,
                "tenon::ptx::cvt_rn_satfinite_relu_e2m1x2_f16x2 needs PTX ISA 9.1: "
                "compile with CUDA 13.0 or newer");
  uint16_t d;
  asm("{ .reg .b8 byte; cvt.rn.satfinite.relu.e2m1x2.f16x2 byte, %1; mov.b16 %0, {byte, 0}; }"
      : "=h"(d)
      : "r"(a));
  return static_cast<uint8_t>(d);
}

// cvt.rn.relu.f16x2.e2m1x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.RELU.F16.E2M1.UNPACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_relu_f16x2_e2m1x2(uint8_t a) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rn_relu_f16x2_e2m1x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_relu_f16x2_e2m1x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("{ .reg .b8 byte, none; mov.b16 {byte, none}, %1; cvt.rn.relu.f16x2.e2m1x2 %0, byte; }"
      : "=r"(d)
      : "h"(uint16_t{a}));
  return d;
}

// cvt.rz.ue8m0x2.f32 d, upper, lower;
// PTX ISA 8.6, sm_100a. SASS: F2FP.E8.F32.PACK_AB_MERGE_C.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_ue8m0x2_f32(float upper, float lower) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rz_ue8m0x2_f32 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rz_ue8m0x2_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rz.ue8m0x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rz.ue8m0x2.bf16x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.E8.BF16.UNPACK_B_MERGE_C.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_ue8m0x2_bf16x2(uint32_t a) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rz_ue8m0x2_bf16x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rz_ue8m0x2_bf16x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rz.ue8m0x2.bf16x2 %0, %1;" : "=h"(d) : "r"(a));
  return d;
}

// cvt.rz.satfinite.ue8m0x2.f32 d, upper, lower;
// PTX ISA 8.6, sm_100a. SASS: F2FP.SATFINITE.E8.F32.PACK_AB_MERGE_C.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_satfinite_ue8m0x2_f32(float upper, float lower) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rz_satfinite_ue8m0x2_f32 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rz_satfinite_ue8m0x2_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rz.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rz.satfinite.ue8m0x2.bf16x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.SATFINITE.E8.BF16.UNPACK_B_MERGE_C.RZ.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rz_satfinite_ue8m0x2_bf16x2(uint32_t a) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rz_satfinite_ue8m0x2_bf16x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rz_satfinite_ue8m0x2_bf16x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rz.satfinite.ue8m0x2.bf16x2 %0, %1;" : "=h"(d) : "r"(a));
  return d;
}

// cvt.rp.ue8m0x2.f32 d, upper, lower;
// PTX ISA 8.6, sm_100a. SASS: F2FP.E8.F32.PACK_AB_MERGE_C.RP.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rp_ue8m0x2_f32(float upper, float lower) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rp_ue8m0x2_f32 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rp_ue8m0x2_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rp.ue8m0x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rp.ue8m0x2.bf16x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.E8.BF16.UNPACK_B_MERGE_C.RP.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rp_ue8m0x2_bf16x2(uint32_t a) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rp_ue8m0x2_bf16x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rp_ue8m0x2_bf16x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rp.ue8m0x2.bf16x2 %0, %1;" : "=h"(d) : "r"(a));
  return d;
}

// cvt.rp.satfinite.ue8m0x2.f32 d, upper, lower;
// PTX ISA 8.6, sm_100a. SASS: F2FP.SATFINITE.E8.F32.PACK_AB_MERGE_C.RP.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rp_satfinite_ue8m0x2_f32(float upper, float lower) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rp_satfinite_ue8m0x2_f32 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rp_satfinite_ue8m0x2_f32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(d) : "f"(upper), "f"(lower));
  return d;
}

// cvt.rp.satfinite.ue8m0x2.bf16x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.SATFINITE.E8.BF16.UNPACK_B_MERGE_C.RP.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rp_satfinite_ue8m0x2_bf16x2(uint32_t a) {
  static_assert(
      is_specific_target<Dependent, 100, 103, 110, 120, 121>,
      "tenon::ptx::cvt_rp_satfinite_ue8m0x2_bf16x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
      "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rp_satfinite_ue8m0x2_bf16x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rp.satfinite.ue8m0x2.bf16x2 %0, %1;" : "=h"(d) : "r"(a));
  return d;
}

// cvt.rn.bf16x2.ue8m0x2 d, a;
// PTX ISA 8.6, sm_100a. SASS: F2FP.BF16.E8.UNPACK_B.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rn_bf16x2_ue8m0x2(uint16_t a) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::cvt_rn_bf16x2_ue8m0x2 needs sm_100a, sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rn_bf16x2_ue8m0x2 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;" : "=r"(d) : "h"(a));
  return d;
}

}  // namespace tenon::ptx
