// D = C + the number of ones in (A and B), or in (A xor B), along k: A is row-major, B column-major.
//
// .and.popc is native up to sm_90. .xor.popc is native up to sm_89; on sm_90 ptxas emulates it by .and.popc
// in a subroutine. sm_100 and newer have no product of bits: 8-bit integers emulate both. A register of a and
// b holds 32 neighbouring bits along k, the lowest k in the lowest bit. In lane l, with g = l / 4 and t = l %
// 4 (PTX ISA, "Matrix Fragments for mma.m8n8k128" and after):
//   a[r]:            row g + 8 * (r % 2), columns 32t + 128 * (r / 2) and the next 31
//   b[r]:            rows 32t + 128r and the next 31, column g
//   c, d element i:  row g + 8 * (i / 2), column 2t + i % 2        (m8n8: two elements, all in row g)
// d and c may be the same array.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc d, a, b, c;
// PTX ISA 7.1, sm_80. SASS: BMMA.88128.AND.POPC up to sm_90;
// on sm_100 and newer emulated: 4 x IMMA.16832.U8.U8 on bits unpacked to bytes.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k128_row_col_s32_b1_b1_s32_and_popc(
    int32_t (&d)[2], const uint32_t (&a)[1], const uint32_t (&b)[1], const int32_t (&c)[2]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k128_row_col_s32_b1_b1_s32_and_popc needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc d, a, b, c;
// PTX ISA 7.0, sm_75. SASS: BMMA.88128.XOR.POPC up to sm_89;
// on sm_90 emulated: 2 x BMMA.88128.AND.POPC, the complements, and a correction.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m8n8k128_row_col_s32_b1_b1_s32_xor_popc(
    int32_t (&d)[2], const uint32_t (&a)[1], const uint32_t (&b)[1], const int32_t (&c)[2]) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::mma_sync_aligned_m8n8k128_row_col_s32_b1_b1_s32_xor_popc needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

// mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc d, a, b, c;
// PTX ISA 7.1, sm_80. SASS: BMMA.168128.AND.POPC up to sm_90;
// on sm_100 and newer emulated: 4 x IMMA.16832.U8.U8 on bits unpacked to bytes.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k128_row_col_s32_b1_b1_s32_and_popc(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k128_row_col_s32_b1_b1_s32_and_popc needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: BMMA.168128.XOR.POPC up to sm_89;
// on sm_90 emulated: 2 x BMMA.168128.AND.POPC, the complements, and a correction.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k128_row_col_s32_b1_b1_s32_xor_popc(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k128_row_col_s32_b1_b1_s32_xor_popc needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc d, a, b, c;
// PTX ISA 7.1, sm_80. SASS: BMMA.168256.AND.POPC up to sm_90;
// on sm_100 and newer emulated: 8 x IMMA.16832.U8.U8 on bits unpacked to bytes.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k256_row_col_s32_b1_b1_s32_and_popc(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k256_row_col_s32_b1_b1_s32_and_popc needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

// mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: BMMA.168256.XOR.POPC up to sm_89;
// on sm_90 emulated: 2 x BMMA.168256.AND.POPC, the complements, and a correction.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k256_row_col_s32_b1_b1_s32_xor_popc(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int32_t (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k256_row_col_s32_b1_b1_s32_xor_popc needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
        "r"(c[3]));
}

}  // namespace tenon::ptx
