// Conversions from f32 with stochastic rounding: up with a probability equal to the discarded fraction.
// sm_100a and sm_103a.
//
// The caller supplies `random_bits`. The instruction adds them to the bits below the result, and a carry
// rounds up; the PTX ISA shows which bits belong to which element ("cvt", figures of .rs). A form of four
// takes the elements from the highest to the lowest: a[0] lands in the high byte. As in PTX the upper of two
// values comes first.
//
// The asm statements are not volatile: the compiler may merge, move or drop a conversion. (PTX ISA, "Data
// Movement and Conversion Instructions: cvt".)
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// cvt.rs.f16x2.f32 d, upper, lower, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.F16.F32.PACK_AB.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_f16x2_f32(float upper, float lower, uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_f16x2_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_f16x2_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.f16x2.f32 %0, %1, %2, %3;" : "=r"(d) : "f"(upper), "f"(lower), "r"(random_bits));
  return d;
}

// cvt.rs.bf16x2.f32 d, upper, lower, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.BF16.F32.PACK_AB.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_bf16x2_f32(float upper, float lower, uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_bf16x2_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_bf16x2_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.bf16x2.f32 %0, %1, %2, %3;" : "=r"(d) : "f"(upper), "f"(lower), "r"(random_bits));
  return d;
}

// cvt.rs.satfinite.f16x2.f32 d, upper, lower, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.F16.F32.PACK_AB.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_satfinite_f16x2_f32(float upper, float lower,
                                                               uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_satfinite_f16x2_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_satfinite_f16x2_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.satfinite.f16x2.f32 %0, %1, %2, %3;" : "=r"(d) : "f"(upper), "f"(lower), "r"(random_bits));
  return d;
}

// cvt.rs.satfinite.bf16x2.f32 d, upper, lower, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.BF16.F32.PACK_AB.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_satfinite_bf16x2_f32(float upper, float lower,
                                                                uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_satfinite_bf16x2_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_satfinite_bf16x2_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.satfinite.bf16x2.f32 %0, %1, %2, %3;" : "=r"(d) : "f"(upper), "f"(lower), "r"(random_bits));
  return d;
}

// cvt.rs.relu.f16x2.f32 d, upper, lower, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.RELU.F16.F32.PACK_AB.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_relu_f16x2_f32(float upper, float lower, uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_relu_f16x2_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_relu_f16x2_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.relu.f16x2.f32 %0, %1, %2, %3;" : "=r"(d) : "f"(upper), "f"(lower), "r"(random_bits));
  return d;
}

// cvt.rs.relu.bf16x2.f32 d, upper, lower, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.RELU.BF16.F32.PACK_AB.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_relu_bf16x2_f32(float upper, float lower, uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_relu_bf16x2_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_relu_bf16x2_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.relu.bf16x2.f32 %0, %1, %2, %3;" : "=r"(d) : "f"(upper), "f"(lower), "r"(random_bits));
  return d;
}

// cvt.rs.relu.satfinite.f16x2.f32 d, upper, lower, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.RELU.F16.F32.PACK_AB.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_relu_satfinite_f16x2_f32(float upper, float lower,
                                                                    uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_relu_satfinite_f16x2_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_relu_satfinite_f16x2_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.relu.satfinite.f16x2.f32 %0, %1, %2, %3;" : "=r"(d) : "f"(upper), "f"(lower), "r"(random_bits));
  return d;
}

// cvt.rs.relu.satfinite.bf16x2.f32 d, upper, lower, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.RELU.BF16.F32.PACK_AB.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_relu_satfinite_bf16x2_f32(float upper, float lower,
                                                                     uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_relu_satfinite_bf16x2_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_relu_satfinite_bf16x2_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.relu.satfinite.bf16x2.f32 %0, %1, %2, %3;"
      : "=r"(d)
      : "f"(upper), "f"(lower), "r"(random_bits));
  return d;
}

// cvt.rs.satfinite.e4m3x4.f32 d, a, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_satfinite_e4m3x4_f32(const float (&a)[4], uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_satfinite_e4m3x4_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_satfinite_e4m3x4_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.satfinite.e4m3x4.f32 %0, {%1, %2, %3, %4}, %5;"
      : "=r"(d)
      : "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "r"(random_bits));
  return d;
}

// cvt.rs.satfinite.e5m2x4.f32 d, a, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.E5M2.F32.PACK_AB_MERGE_C.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_satfinite_e5m2x4_f32(const float (&a)[4], uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_satfinite_e5m2x4_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_satfinite_e5m2x4_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.satfinite.e5m2x4.f32 %0, {%1, %2, %3, %4}, %5;"
      : "=r"(d)
      : "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "r"(random_bits));
  return d;
}

// cvt.rs.satfinite.e2m3x4.f32 d, a, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.E2M3.F32.PACK_AB_MERGE_C.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_satfinite_e2m3x4_f32(const float (&a)[4], uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_satfinite_e2m3x4_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_satfinite_e2m3x4_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.satfinite.e2m3x4.f32 %0, {%1, %2, %3, %4}, %5;"
      : "=r"(d)
      : "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "r"(random_bits));
  return d;
}

// cvt.rs.satfinite.e3m2x4.f32 d, a, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.E3M2.F32.PACK_AB_MERGE_C.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_satfinite_e3m2x4_f32(const float (&a)[4], uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_satfinite_e3m2x4_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_satfinite_e3m2x4_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.satfinite.e3m2x4.f32 %0, {%1, %2, %3, %4}, %5;"
      : "=r"(d)
      : "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "r"(random_bits));
  return d;
}

// cvt.rs.satfinite.e2m1x4.f32 d, a, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.E2M1.F32.PACK_AB_MERGE_C.RS.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rs_satfinite_e2m1x4_f32(const float (&a)[4], uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_satfinite_e2m1x4_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_satfinite_e2m1x4_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rs.satfinite.e2m1x4.f32 %0, {%1, %2, %3, %4}, %5;"
      : "=h"(d)
      : "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "r"(random_bits));
  return d;
}

// cvt.rs.relu.satfinite.e4m3x4.f32 d, a, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.RELU.E4M3.F32.PACK_AB_MERGE_C.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_relu_satfinite_e4m3x4_f32(const float (&a)[4],
                                                                     uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_relu_satfinite_e4m3x4_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_relu_satfinite_e4m3x4_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.relu.satfinite.e4m3x4.f32 %0, {%1, %2, %3, %4}, %5;"
      : "=r"(d)
      : "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "r"(random_bits));
  return d;
}

// cvt.rs.relu.satfinite.e5m2x4.f32 d, a, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.RELU.E5M2.F32.PACK_AB_MERGE_C.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_relu_satfinite_e5m2x4_f32(const float (&a)[4],
                                                                     uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_relu_satfinite_e5m2x4_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_relu_satfinite_e5m2x4_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.relu.satfinite.e5m2x4.f32 %0, {%1, %2, %3, %4}, %5;"
      : "=r"(d)
      : "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "r"(random_bits));
  return d;
}

// cvt.rs.relu.satfinite.e2m3x4.f32 d, a, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.RELU.E2M3.F32.PACK_AB_MERGE_C.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_relu_satfinite_e2m3x4_f32(const float (&a)[4],
                                                                     uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_relu_satfinite_e2m3x4_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_relu_satfinite_e2m3x4_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.relu.satfinite.e2m3x4.f32 %0, {%1, %2, %3, %4}, %5;"
      : "=r"(d)
      : "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "r"(random_bits));
  return d;
}

// cvt.rs.relu.satfinite.e3m2x4.f32 d, a, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.RELU.E3M2.F32.PACK_AB_MERGE_C.RS.
template <class Dependent = void>
__device__ __forceinline__ uint32_t cvt_rs_relu_satfinite_e3m2x4_f32(const float (&a)[4],
                                                                     uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_relu_satfinite_e3m2x4_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_relu_satfinite_e3m2x4_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint32_t d;
  asm("cvt.rs.relu.satfinite.e3m2x4.f32 %0, {%1, %2, %3, %4}, %5;"
      : "=r"(d)
      : "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "r"(random_bits));
  return d;
}

// cvt.rs.relu.satfinite.e2m1x4.f32 d, a, random_bits;
// PTX ISA 8.7, sm_100a. SASS: F2FP.SATFINITE.RELU.E2M1.F32.PACK_AB_MERGE_C.RS.
template <class Dependent = void>
__device__ __forceinline__ uint16_t cvt_rs_relu_satfinite_e2m1x4_f32(const float (&a)[4],
                                                                     uint32_t random_bits) {
  static_assert(is_specific_target<Dependent, 100, 103>,
                "tenon::ptx::cvt_rs_relu_satfinite_e2m1x4_f32 needs sm_100a or sm_103a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::cvt_rs_relu_satfinite_e2m1x4_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  uint16_t d;
  asm("cvt.rs.relu.satfinite.e2m1x4.f32 %0, {%1, %2, %3, %4}, %5;"
      : "=h"(d)
      : "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3]), "r"(random_bits));
  return d;
}

}  // namespace tenon::ptx
