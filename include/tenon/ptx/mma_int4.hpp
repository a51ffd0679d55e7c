// D = A * B + C on 4-bit integers, exact in s32: A is row-major, B is column-major, each s4 or u4.
//
// Native up to sm_89 only. From sm_90 on ptxas unpacks to 8 bits and issues two 8-bit instructions behind a
// call: correct, but slower than storing 8 bits and using mma_int8.hpp. A sum that leaves s32 wraps; with
// .satfinite it is clamped to the nearest s32. A register of a and b holds eight values that are neighbours
// along k, the lowest k in the lowest four bits. In lane l, with g = l / 4 and t = l % 4 (PTX ISA, "Matrix
// Fragments for mma.m8n8k32" and after):
//   a[r]:            row g + 8 * (r % 2), columns 8t + 32 * (r / 2) and the next seven
//   b[r]:            rows 8t + 32r and the next seven, column g
//   c, d element i:  row g + 8 * (i / 2), column 2t + i % 2        (m8n8: two elements, all in row g)
// d and c may be the same array.
// Order below: by shape; wrapping before saturating; s4.s4, s4.u4, u4.s4, u4.u4.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8832.S4.S4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.8816.S8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k32_row_col_s32_s4_s4_s32(int32_t (&d)[2],
                                                                               const uint32_t (&a)[1],
                                                                               const uint32_t (&b)[1],
                                                                               const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k32_row_col_s32_s4_s4_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8832.S4.U4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.8816.S8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k32_row_col_s32_s4_u4_s32(int32_t (&d)[2],
                                                                               const uint32_t (&a)[1],
                                                                               const uint32_t (&b)[1],
                                                                               const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k32_row_col_s32_s4_u4_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8832.U4.S4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.8816.U8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k32_row_col_s32_u4_s4_s32(int32_t (&d)[2],
                                                                               const uint32_t (&a)[1],
                                                                               const uint32_t (&b)[1],
                                                                               const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k32_row_col_s32_u4_s4_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8832.U4.U4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.8816.U8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k32_row_col_s32_u4_u4_s32(int32_t (&d)[2],
                                                                               const uint32_t (&a)[1],
                                                                               const uint32_t (&b)[1],
                                                                               const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k32_row_col_s32_u4_u4_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.s4.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8832.S4.S4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.8816.S8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k32_row_col_satfinite_s32_s4_s4_s32(
    int32_t (&d)[2], const uint32_t (&a)[1], const uint32_t (&b)[1], const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k32_row_col_satfinite_s32_s4_s4_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.s4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.u4.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8832.S4.U4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.8816.S8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k32_row_col_satfinite_s32_s4_u4_s32(
    int32_t (&d)[2], const uint32_t (&a)[1], const uint32_t (&b)[1], const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k32_row_col_satfinite_s32_s4_u4_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.u4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.s4.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8832.U4.S4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.8816.U8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k32_row_col_satfinite_s32_u4_s4_s32(
    int32_t (&d)[2], const uint32_t (&a)[1], const uint32_t (&b)[1], const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k32_row_col_satfinite_s32_u4_s4_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.s4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.u4.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8832.U4.U4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.8816.U8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k32_row_col_satfinite_s32_u4_u4_s32(
    int32_t (&d)[2], const uint32_t (&a)[1], const uint32_t (&b)[1], const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k32_row_col_satfinite_s32_u4_u4_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.u4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.S4.S4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.16816.S8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_s32_s4_s4_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[1],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_s32_s4_s4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.s32.s4.u4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.S4.U4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.16816.S8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_s32_s4_u4_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[1],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_s32_s4_u4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s4.u4.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.U4.S4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.16816.U8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_s32_u4_s4_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[1],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_s32_u4_s4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.s32.u4.u4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.U4.U4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.16816.U8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_s32_u4_u4_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[1],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_s32_u4_u4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u4.u4.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s4.s4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.S4.S4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.16816.S8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s4_s4_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s4_s4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s4.s4.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s4.u4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.S4.U4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.16816.S8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s4_u4_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s4_u4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s4.u4.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u4.s4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.U4.S4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.16816.U8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_satfinite_s32_u4_s4_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_satfinite_s32_u4_s4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u4.s4.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u4.u4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.U4.U4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.16816.U8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_satfinite_s32_u4_u4_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_satfinite_s32_u4_u4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u4.u4.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16864.S4.S4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.16832.S8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k64_row_col_s32_s4_s4_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[4],
                                                                                const uint32_t (&b)[2],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_s32_s4_s4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16864.S4.U4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.16832.S8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k64_row_col_s32_s4_u4_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[4],
                                                                                const uint32_t (&b)[2],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_s32_s4_u4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16864.U4.S4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.16832.U8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k64_row_col_s32_u4_s4_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[4],
                                                                                const uint32_t (&b)[2],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_s32_u4_s4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16864.U4.U4 up to sm_89;
// on sm_90 emulated: 2 x IMMA.16832.U8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k64_row_col_s32_u4_u4_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[4],
                                                                                const uint32_t (&b)[2],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_s32_u4_u4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16864.S4.S4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.16832.S8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k64_row_col_satfinite_s32_s4_s4_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_satfinite_s32_s4_s4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16864.S4.U4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.16832.S8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k64_row_col_satfinite_s32_s4_u4_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_satfinite_s32_s4_u4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.s4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16864.U4.S4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.16832.U8.S8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k64_row_col_satfinite_s32_u4_s4_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_satfinite_s32_u4_s4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.s4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.u4.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16864.U4.U4.SAT up to sm_89;
// on sm_90 emulated: 2 x IMMA.16832.U8.U8 and unpacking.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k64_row_col_satfinite_s32_u4_u4_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_satfinite_s32_u4_u4_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.u4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

}  // namespace tenon::ptx
