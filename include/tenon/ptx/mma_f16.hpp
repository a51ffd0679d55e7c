// D = A * B + C on f16 operands: A is 16 x k row-major, B is k x 8 column-major, C and D are 16 x 8.
//
// A register of a and b holds two f16 that are neighbours along k, the lower k in the low half.
// In lane l, with g = l / 4 and t = l % 4 (PTX ISA, "Matrix Fragments for mma.m16n8k8" and "mma.m16n8k16"):
//   a[r]:                   row g + 8 * (r % 2), columns 2t + 8 * (r / 2) and the next
//   b[r]:                   rows 2t + 8r and the next, column g
//   c, d (f32) element i:   row g + 8 * (i / 2), column 2t + i % 2
//   c, d (f16) register r:  elements 2r (low half) and 2r + 1
// d and c may be the same array.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: HMMA.1688.F16.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k8_row_col_f16_f16_f16_f16(uint32_t (&d)[2],
                                                                                 const uint32_t (&a)[2],
                                                                                 const uint32_t (&b)[1],
                                                                                 const uint32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k8_row_col_f16_f16_f16_f16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 d, a, b, c;
// PTX ISA 6.5, sm_75. SASS: HMMA.1688.F32.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k8_row_col_f32_f16_f16_f32(float (&d)[4],
                                                                                 const uint32_t (&a)[2],
                                                                                 const uint32_t (&b)[1],
                                                                                 const float (&c)[4]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k8_row_col_f32_f16_f16_f32 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: HMMA.16816.F16.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16(uint32_t (&d)[2],
                                                                                  const uint32_t (&a)[4],
                                                                                  const uint32_t (&b)[2],
                                                                                  const uint32_t (&c)[2]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: HMMA.16816.F32.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(float (&d)[4],
                                                                                  const uint32_t (&a)[4],
                                                                                  const uint32_t (&b)[2],
                                                                                  const float (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]));
}

}  // namespace tenon::ptx
