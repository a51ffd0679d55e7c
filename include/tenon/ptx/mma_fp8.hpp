// D = A * B + C on fp8: A is 16 x k row-major, B is k x 8 column-major, each e4m3 or e5m2; C and D are f16 or
// f32.
//
// Native on sm_89, where the sum of a step keeps 13 bits below its largest term. On sm_90 emulated: ptxas
// unpacks to f16, issues two HMMA and adds c afterwards, which is more exact but slower than an 8-bit tensor
// core (the fast fp8 of sm_90 is wgmma). The two chips therefore differ in their last bits. A register of a
// and b holds four values that are neighbours along k, the lowest k in the low byte. In lane l, with g = l /
// 4 and t = l % 4 (PTX ISA, "Matrix Fragments for mma.m16n8k16" and after):
//   a[r]:                   row g + 8 * (r % 2), columns 4t + 16 * (r / 2) and the next three
//   b[r]:                   rows 4t + 16r and the next three, column g
//   c, d (f32) element i:   row g + 8 * (i / 2), column 2t + i % 2
//   c, d (f16) register r:  elements 2r (low half) and 2r + 1
// d and c may be the same array.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16816.F16.E4M3.E4M3 on sm_89;
// on sm_90 emulated: 2 x HMMA.1688.F16 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f16_e4m3_e4m3_f16(uint32_t (&d)[2],
                                                                                    const uint32_t (&a)[2],
                                                                                    const uint32_t (&b)[1],
                                                                                    const uint32_t (&c)[2]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f16_e4m3_e4m3_f16 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f16_e4m3_e4m3_f16 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16816.F16.E4M3.E5M2 on sm_89;
// on sm_90 emulated: 2 x HMMA.1688.F16 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f16_e4m3_e5m2_f16(uint32_t (&d)[2],
                                                                                    const uint32_t (&a)[2],
                                                                                    const uint32_t (&b)[1],
                                                                                    const uint32_t (&c)[2]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f16_e4m3_e5m2_f16 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f16_e4m3_e5m2_f16 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e4m3.f16 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16816.F16.E5M2.E4M3 on sm_89;
// on sm_90 emulated: 2 x HMMA.1688.F16 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f16_e5m2_e4m3_f16(uint32_t (&d)[2],
                                                                                    const uint32_t (&a)[2],
                                                                                    const uint32_t (&b)[1],
                                                                                    const uint32_t (&c)[2]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f16_e5m2_e4m3_f16 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f16_e5m2_e4m3_f16 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e4m3.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16816.F16.E5M2.E5M2 on sm_89;
// on sm_90 emulated: 2 x HMMA.1688.F16 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f16_e5m2_e5m2_f16(uint32_t (&d)[2],
                                                                                    const uint32_t (&a)[2],
                                                                                    const uint32_t (&b)[1],
                                                                                    const uint32_t (&c)[2]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f16_e5m2_e5m2_f16 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f16_e5m2_e5m2_f16 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16816.F32.E4M3.E4M3 on sm_89;
// on sm_90 emulated: 2 x HMMA.1688.F32 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f32_e4m3_e4m3_f32(float (&d)[4],
                                                                                    const uint32_t (&a)[2],
                                                                                    const uint32_t (&b)[1],
                                                                                    const float (&c)[4]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f32_e4m3_e4m3_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f32_e4m3_e4m3_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16816.F32.E4M3.E5M2 on sm_89;
// on sm_90 emulated: 2 x HMMA.1688.F32 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f32_e4m3_e5m2_f32(float (&d)[4],
                                                                                    const uint32_t (&a)[2],
                                                                                    const uint32_t (&b)[1],
                                                                                    const float (&c)[4]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f32_e4m3_e5m2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f32_e4m3_e5m2_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e4m3.f32 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16816.F32.E5M2.E4M3 on sm_89;
// on sm_90 emulated: 2 x HMMA.1688.F32 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f32_e5m2_e4m3_f32(float (&d)[4],
                                                                                    const uint32_t (&a)[2],
                                                                                    const uint32_t (&b)[1],
                                                                                    const float (&c)[4]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f32_e5m2_e4m3_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f32_e5m2_e4m3_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e4m3.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16816.F32.E5M2.E5M2 on sm_89;
// on sm_90 emulated: 2 x HMMA.1688.F32 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f32_e5m2_e5m2_f32(float (&d)[4],
                                                                                    const uint32_t (&a)[2],
                                                                                    const uint32_t (&b)[1],
                                                                                    const float (&c)[4]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f32_e5m2_e5m2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f32_e5m2_e5m2_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16832.F16.E4M3.E4M3 on sm_89;
// on sm_90 emulated: 2 x HMMA.16816.F16 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_f16_e4m3_e4m3_f16(uint32_t (&d)[2],
                                                                                    const uint32_t (&a)[4],
                                                                                    const uint32_t (&b)[2],
                                                                                    const uint32_t (&c)[2]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f16_e4m3_e4m3_f16 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f16_e4m3_e4m3_f16 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%8, %9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16832.F16.E4M3.E5M2 on sm_89;
// on sm_90 emulated: 2 x HMMA.16816.F16 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_f16_e4m3_e5m2_f16(uint32_t (&d)[2],
                                                                                    const uint32_t (&a)[4],
                                                                                    const uint32_t (&b)[2],
                                                                                    const uint32_t (&c)[2]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f16_e4m3_e5m2_f16 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f16_e4m3_e5m2_f16 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%8, %9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e4m3.f16 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16832.F16.E5M2.E4M3 on sm_89;
// on sm_90 emulated: 2 x HMMA.16816.F16 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_f16_e5m2_e4m3_f16(uint32_t (&d)[2],
                                                                                    const uint32_t (&a)[4],
                                                                                    const uint32_t (&b)[2],
                                                                                    const uint32_t (&c)[2]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f16_e5m2_e4m3_f16 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f16_e5m2_e4m3_f16 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e4m3.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%8, %9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16 d, a, b, c;
// PTX ISA 8.7, sm_89. SASS: QMMA.16832.F16.E5M2.E5M2 on sm_89;
// on sm_90 emulated: 2 x HMMA.16816.F16 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_f16_e5m2_e5m2_f16(uint32_t (&d)[2],
                                                                                    const uint32_t (&a)[4],
                                                                                    const uint32_t (&b)[2],
                                                                                    const uint32_t (&c)[2]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f16_e5m2_e5m2_f16 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f16_e5m2_e5m2_f16 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%8, %9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 d, a, b, c;
// PTX ISA 8.4, sm_89. SASS: QMMA.16832.F32.E4M3.E4M3 on sm_89;
// on sm_90 emulated: 2 x HMMA.16816.F32 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e4m3_f32(float (&d)[4],
                                                                                    const uint32_t (&a)[4],
                                                                                    const uint32_t (&b)[2],
                                                                                    const float (&c)[4]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e4m3_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 d, a, b, c;
// PTX ISA 8.4, sm_89. SASS: QMMA.16832.F32.E4M3.E5M2 on sm_89;
// on sm_90 emulated: 2 x HMMA.16816.F32 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e5m2_f32(float (&d)[4],
                                                                                    const uint32_t (&a)[4],
                                                                                    const uint32_t (&b)[2],
                                                                                    const float (&c)[4]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e5m2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 d, a, b, c;
// PTX ISA 8.4, sm_89. SASS: QMMA.16832.F32.E5M2.E4M3 on sm_89;
// on sm_90 emulated: 2 x HMMA.16816.F32 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_f32_e5m2_e4m3_f32(float (&d)[4],
                                                                                    const uint32_t (&a)[4],
                                                                                    const uint32_t (&b)[2],
                                                                                    const float (&c)[4]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f32_e5m2_e4m3_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 d, a, b, c;
// PTX ISA 8.4, sm_89. SASS: QMMA.16832.F32.E5M2.E5M2 on sm_89;
// on sm_90 emulated: 2 x HMMA.16816.F32 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_f32_e5m2_e5m2_f32(float (&d)[4],
                                                                                    const uint32_t (&a)[4],
                                                                                    const uint32_t (&b)[2],
                                                                                    const float (&c)[4]) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_f32_e5m2_e5m2_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]));
}

}  // namespace tenon::ptx
