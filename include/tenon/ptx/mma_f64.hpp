// D = A * B + C on f64: A is row-major, B is column-major; m8n8k4 from sm_80 on, m16n8k4, k8 and k16 from
// sm_90 on, and only there: sm_100 and newer split them.
//
// Each element is a chain of IEEE fused multiply-adds in increasing k that begins with c. The rounding is to
// nearest even, or .rz toward zero, .rm toward minus infinity, .rp toward plus infinity. In lane l, with g =
// l / 4 and t = l % 4 (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64" and after):
//   a[r]:            row g + 8 * (r % 2), column t + 4 * (r / 2)
//   b[r]:            row t + 4r, column g
//   c, d element i:  row g + 8 * (i / 2), column 2t + i % 2        (m8n8: two elements, all in row g)
// d and c may be the same array.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: DMMA.8x8x4 (on sm_80 to sm_89 DMMA.884).
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64(double (&d)[2],
                                                                                const double (&a)[1],
                                                                                const double (&b)[1],
                                                                                const double (&c)[2]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(d[0]), "=d"(d[1])
               : "d"(a[0]), "d"(b[0]), "d"(c[0]), "d"(c[1]));
}

// mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: DMMA.8x8x4.RZ (on sm_80 to sm_89 DMMA.884.RZ).
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64_rz(double (&d)[2],
                                                                                   const double (&a)[1],
                                                                                   const double (&b)[1],
                                                                                   const double (&c)[2]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64_rz needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(d[0]), "=d"(d[1])
               : "d"(a[0]), "d"(b[0]), "d"(c[0]), "d"(c[1]));
}

// mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rm d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: DMMA.8x8x4.RM (on sm_80 to sm_89 DMMA.884.RM).
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64_rm(double (&d)[2],
                                                                                   const double (&a)[1],
                                                                                   const double (&b)[1],
                                                                                   const double (&c)[2]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64_rm needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rm {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(d[0]), "=d"(d[1])
               : "d"(a[0]), "d"(b[0]), "d"(c[0]), "d"(c[1]));
}

// mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rp d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: DMMA.8x8x4.RP (on sm_80 to sm_89 DMMA.884.RP).
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64_rp(double (&d)[2],
                                                                                   const double (&a)[1],
                                                                                   const double (&b)[1],
                                                                                   const double (&c)[2]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64_rp needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rp {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(d[0]), "=d"(d[1])
               : "d"(a[0]), "d"(b[0]), "d"(c[0]), "d"(c[1]));
}

// mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x4;
// on sm_100 and newer emulated: 2 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k4_row_col_f64_f64_f64_f64(double (&d)[4],
                                                                                 const double (&a)[2],
                                                                                 const double (&b)[1],
                                                                                 const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k4_row_col_f64_f64_f64_f64 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(b[0]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}

// mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rz d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x4.RZ;
// on sm_100 and newer emulated: 2 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k4_row_col_f64_f64_f64_f64_rz(double (&d)[4],
                                                                                    const double (&a)[2],
                                                                                    const double (&b)[1],
                                                                                    const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k4_row_col_f64_f64_f64_f64_rz needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rz {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(b[0]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}

// mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rm d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x4.RM;
// on sm_100 and newer emulated: 2 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k4_row_col_f64_f64_f64_f64_rm(double (&d)[4],
                                                                                    const double (&a)[2],
                                                                                    const double (&b)[1],
                                                                                    const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k4_row_col_f64_f64_f64_f64_rm needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rm {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(b[0]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}

// mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rp d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x4.RP;
// on sm_100 and newer emulated: 2 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k4_row_col_f64_f64_f64_f64_rp(double (&d)[4],
                                                                                    const double (&a)[2],
                                                                                    const double (&b)[1],
                                                                                    const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k4_row_col_f64_f64_f64_f64_rp needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rp {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(b[0]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}

// mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x8;
// on sm_100 and newer emulated: 4 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64(double (&d)[4],
                                                                                 const double (&a)[4],
                                                                                 const double (&b)[2],
                                                                                 const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(c[0]), "d"(c[1]), "d"(c[2]),
        "d"(c[3]));
}

// mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rz d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x8.RZ;
// on sm_100 and newer emulated: 4 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64_rz(double (&d)[4],
                                                                                    const double (&a)[4],
                                                                                    const double (&b)[2],
                                                                                    const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64_rz needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rz {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(c[0]), "d"(c[1]), "d"(c[2]),
        "d"(c[3]));
}

// mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rm d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x8.RM;
// on sm_100 and newer emulated: 4 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64_rm(double (&d)[4],
                                                                                    const double (&a)[4],
                                                                                    const double (&b)[2],
                                                                                    const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64_rm needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rm {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(c[0]), "d"(c[1]), "d"(c[2]),
        "d"(c[3]));
}

// mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rp d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x8.RP;
// on sm_100 and newer emulated: 4 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64_rp(double (&d)[4],
                                                                                    const double (&a)[4],
                                                                                    const double (&b)[2],
                                                                                    const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64_rp needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rp {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(c[0]), "d"(c[1]), "d"(c[2]),
        "d"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x16;
// on sm_100 and newer emulated: 8 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64(double (&d)[4],
                                                                                  const double (&a)[8],
                                                                                  const double (&b)[4],
                                                                                  const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
        "d"(b[1]), "d"(b[2]), "d"(b[3]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rz d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x16.RZ;
// on sm_100 and newer emulated: 8 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64_rz(double (&d)[4],
                                                                                     const double (&a)[8],
                                                                                     const double (&b)[4],
                                                                                     const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64_rz needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rz {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
        "d"(b[1]), "d"(b[2]), "d"(b[3]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rm d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x16.RM;
// on sm_100 and newer emulated: 8 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64_rm(double (&d)[4],
                                                                                     const double (&a)[8],
                                                                                     const double (&b)[4],
                                                                                     const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64_rm needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rm {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
        "d"(b[1]), "d"(b[2]), "d"(b[3]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rp d, a, b, c;
// PTX ISA 7.8, sm_90. SASS: DMMA.16x8x16.RP;
// on sm_100 and newer emulated: 8 x DMMA.8x8x4.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64_rp(double (&d)[4],
                                                                                     const double (&a)[8],
                                                                                     const double (&b)[4],
                                                                                     const double (&c)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64_rp needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rp {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
        "d"(b[1]), "d"(b[2]), "d"(b[3]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}

}  // namespace tenon::ptx
