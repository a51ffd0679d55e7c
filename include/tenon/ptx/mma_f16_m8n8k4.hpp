// D = A * B + C in the shape of the first tensor cores (Volta), with each operand row- or column-major.
//
// One instruction computes four products of 8 x 4 by 4 x 8, one for each q = 0..3, in lanes 4q..4q+3 and
// 16+4q..19+4q. Only sm_70 and sm_75 have it in hardware. From sm_80 on ptxas writes a subroutine of FFMA and
// shuffles, without a tensor core and far slower than mma_f16.hpp: these wrappers are for reading and
// checking old kernels.
//
// In lane l, with t = l % 4 and h = l / 16, element i (two f16 to a register, the even one in the low half;
// PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type"):
//   A row:     row t + 4h, column i
//   A col:     row i + 4h, column t
//   B row:     row t, column i + 4h
//   B col:     row i, column t + 4h
//   C, D f16:  row t + 4h, column i
//   C, D f32:  row l % 2 + (i & 2) + 4h, column (i & 4) + (l & 2) + i % 2
// d and c may be the same array when their types agree.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mma.sync.aligned.m8n8k4.row.row.f16.f16.f16.f16 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 2 x HMMA.884.F16.F16 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_row_row_f16_f16_f16_f16(uint32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const uint32_t (&c)[4]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_row_row_f16_f16_f16_f16 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.row.f16.f16.f16.f16 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, "
      "{%8, %9, %10, %11};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f16 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 4 x HMMA.884.F32.F16 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_row_row_f32_f16_f16_f16(float (&d)[8],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const uint32_t (&c)[4]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_row_row_f32_f16_f16_f16 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11}, {%12, %13, %14, %15};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 4 x HMMA.884.F32.F32 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_row_row_f32_f16_f16_f32(float (&d)[8],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const float (&c)[8]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_row_row_f32_f16_f16_f32 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]),
        "f"(c[5]), "f"(c[6]), "f"(c[7]));
}

// mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 2 x HMMA.884.F16.F16 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_row_col_f16_f16_f16_f16(uint32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const uint32_t (&c)[4]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_row_col_f16_f16_f16_f16 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, "
      "{%8, %9, %10, %11};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 4 x HMMA.884.F32.F16 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_row_col_f32_f16_f16_f16(float (&d)[8],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const uint32_t (&c)[4]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_row_col_f32_f16_f16_f16 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11}, {%12, %13, %14, %15};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 4 x HMMA.884.F32.F32 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_row_col_f32_f16_f16_f32(float (&d)[8],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const float (&c)[8]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_row_col_f32_f16_f16_f32 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]),
        "f"(c[5]), "f"(c[6]), "f"(c[7]));
}

// mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 2 x HMMA.884.F16.F16 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_col_row_f16_f16_f16_f16(uint32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const uint32_t (&c)[4]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_col_row_f16_f16_f16_f16 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, "
      "{%8, %9, %10, %11};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 4 x HMMA.884.F32.F16 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_col_row_f32_f16_f16_f16(float (&d)[8],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const uint32_t (&c)[4]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_col_row_f32_f16_f16_f16 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11}, {%12, %13, %14, %15};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 4 x HMMA.884.F32.F32 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_col_row_f32_f16_f16_f32(float (&d)[8],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const float (&c)[8]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_col_row_f32_f16_f16_f32 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]),
        "f"(c[5]), "f"(c[6]), "f"(c[7]));
}

// mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 2 x HMMA.884.F16.F16 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_col_col_f16_f16_f16_f16(uint32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const uint32_t (&c)[4]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_col_col_f16_f16_f16_f16 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, "
      "{%8, %9, %10, %11};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f16 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 4 x HMMA.884.F32.F16 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_col_col_f32_f16_f16_f16(float (&d)[8],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const uint32_t (&c)[4]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_col_col_f32_f16_f16_f16 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11}, {%12, %13, %14, %15};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f32 d, a, b, c;
// PTX ISA 6.4, sm_70. SASS: 4 x HMMA.884.F32.F32 on sm_70 and sm_75;
// from sm_80 on emulated by SHFL and FFMA, without a tensor core.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_col_col_f32_f16_f16_f32(float (&d)[8],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[2],
                                                                                const float (&c)[8]) {
  static_assert(sm_at_least<70, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_col_col_f32_f16_f16_f32 needs sm_70 or newer: "
                "compile with -arch=sm_70 or above");
  asm volatile(
      "mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]),
        "f"(c[5]), "f"(c[6]), "f"(c[7]));
}

}  // namespace tenon::ptx
