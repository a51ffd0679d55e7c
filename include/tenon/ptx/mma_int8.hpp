// D = A * B + C on 8-bit integers, exact in s32: A is row-major, B is column-major, each s8 or u8.
//
// A sum that leaves s32 wraps; with .satfinite it is clamped to the nearest s32.
// A register of a and b holds four values that are neighbours along k, the lowest k in the low byte.
// In lane l, with g = l / 4 and t = l % 4 (PTX ISA, "Matrix Fragments for mma.m8n8k16" and after):
//   a[r]:            row g + 8 * (r % 2), columns 4t + 16 * (r / 2) and the next three
//   b[r]:            rows 4t + 16r and the next three, column g
//   c, d element i:  row g + 8 * (i / 2), column 2t + i % 2        (m8n8: two elements, all in row g)
// d and c may be the same array.
// Order below: by shape; wrapping before saturating; s8.s8, s8.u8, u8.s8, u8.u8.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8816.S8.S8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k16_row_col_s32_s8_s8_s32(int32_t (&d)[2],
                                                                               const uint32_t (&a)[1],
                                                                               const uint32_t (&b)[1],
                                                                               const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k16_row_col_s32_s8_s8_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8816.S8.U8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k16_row_col_s32_s8_u8_s32(int32_t (&d)[2],
                                                                               const uint32_t (&a)[1],
                                                                               const uint32_t (&b)[1],
                                                                               const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k16_row_col_s32_s8_u8_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8816.U8.S8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k16_row_col_s32_u8_s8_s32(int32_t (&d)[2],
                                                                               const uint32_t (&a)[1],
                                                                               const uint32_t (&b)[1],
                                                                               const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k16_row_col_s32_u8_s8_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8816.U8.U8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k16_row_col_s32_u8_u8_s32(int32_t (&d)[2],
                                                                               const uint32_t (&a)[1],
                                                                               const uint32_t (&b)[1],
                                                                               const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k16_row_col_s32_u8_u8_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8816.S8.S8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k16_row_col_satfinite_s32_s8_s8_s32(
    int32_t (&d)[2], const uint32_t (&a)[1], const uint32_t (&b)[1], const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k16_row_col_satfinite_s32_s8_s8_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8816.S8.U8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k16_row_col_satfinite_s32_s8_u8_s32(
    int32_t (&d)[2], const uint32_t (&a)[1], const uint32_t (&b)[1], const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k16_row_col_satfinite_s32_s8_u8_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8816.U8.S8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k16_row_col_satfinite_s32_u8_s8_s32(
    int32_t (&d)[2], const uint32_t (&a)[1], const uint32_t (&b)[1], const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k16_row_col_satfinite_s32_u8_s8_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.u8.s32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: IMMA.8816.U8.U8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k16_row_col_satfinite_s32_u8_u8_s32(
    int32_t (&d)[2], const uint32_t (&a)[1], const uint32_t (&b)[1], const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k16_row_col_satfinite_s32_u8_u8_s32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16816.S8.S8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_s32_s8_s8_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[1],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_s32_s8_s8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16816.S8.U8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_s32_s8_u8_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[1],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_s32_s8_u8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16816.U8.S8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_s32_u8_s8_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[1],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_s32_u8_s8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16816.U8.U8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_s32_u8_u8_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[2],
                                                                                const uint32_t (&b)[1],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_s32_u8_u8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16816.S8.S8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_satfinite_s32_s8_s8_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_satfinite_s32_s8_s8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16816.S8.U8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_satfinite_s32_s8_u8_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_satfinite_s32_s8_u8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16816.U8.S8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_satfinite_s32_u8_s8_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_satfinite_s32_u8_s8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.u8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16816.U8.U8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_satfinite_s32_u8_u8_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_satfinite_s32_u8_u8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.S8.S8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_s32_s8_s8_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[4],
                                                                                const uint32_t (&b)[2],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_s32_s8_s8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.S8.U8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_s32_s8_u8_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[4],
                                                                                const uint32_t (&b)[2],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_s32_s8_u8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.U8.S8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_s32_u8_s8_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[4],
                                                                                const uint32_t (&b)[2],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_s32_u8_s8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.U8.U8.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_s32_u8_u8_s32(int32_t (&d)[4],
                                                                                const uint32_t (&a)[4],
                                                                                const uint32_t (&b)[2],
                                                                                const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_s32_u8_u8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.S8.S8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s8_s8_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s8_s8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.S8.U8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s8_u8_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s8_u8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.U8.S8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_satfinite_s32_u8_s8_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_satfinite_s32_u8_s8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: IMMA.16832.U8.U8.SAT.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_satfinite_s32_u8_u8_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_satfinite_s32_u8_u8_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

}  // namespace tenon::ptx
