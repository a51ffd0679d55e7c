// D = A * B + C with A half zeros, on f16: A is 16 x k row-major, B is k x 8 column-major, C and D are 16 x
// 8.
//
// A holds two of every four neighbours along k (tf32: one of two; 4-bit: two of four pairs); the others are
// zero. `e`, the metadata, holds for each element of A its index in the group, in two bits. Some lanes supply
// it, as `selector` says. `mma.sp::ordered_metadata` requires the indices of a group to ascend, as the
// hardware does. `mma.sp` does not require it and is therefore slow on sm_100 and newer: prefer the ordered
// form. (PTX ISA, "Sparse matrix storage" and "Sparsity selector".)
//
// In lane l, with g = l / 4 and t = l % 4 (PTX ISA, "Matrix Fragments for sparse mma.m16n8k16 with .f16 and
// .bf16" and "... mma.m16n8k32"):
//   a[r]:                   the two kept elements of row g + 8 * (r % 2) in columns 4t + 16 * (r / 2) and
//                           the next three, the lower column in the low half
//   b[r]:                   rows 2t + 8r and the next, column g
//   c, d (f32) element i:   row g + 8 * (i / 2), column 2t + i % 2
//   c, d (f16) register r:  elements 2r (low half) and 2r + 1
//   e, m16n8k16, lanes with t == selector (0 to 3): bits 0-15 row g, bits 16-31 row g + 8; nibble i of a
//                                                   row is the group of columns 4i to 4i + 3
//   e, m16n8k32, lanes with t / 2 == selector (0, 1): the same for columns 16 * (t % 2) and after
// d and c may be the same array.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 d, a, b, c, e, selector;
// PTX ISA 7.1, sm_80. SASS: HMMA.SP.16816.F16;
// on sm_100 and newer emulated: metadata in any order is first sorted, by a CALL with SHFL.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16(
    uint32_t (&d)[2], const uint32_t (&a)[2], const uint32_t (&b)[2], const uint32_t (&c)[2], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(
      selector >= 0 && selector <= 3,
      "mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16: the sparsity selector must be 0, 1, 2 or 3");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4, %5}, {%6, %7}, %8, %9;"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(e), "n"(selector));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_80. SASS: HMMA.SP.16816.F16.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16(
    uint32_t (&d)[2], const uint32_t (&a)[2], const uint32_t (&b)[2], const uint32_t (&c)[2], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16 needs "
                "sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(
      cuda_at_least<12, 5, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16 needs PTX ISA 8.5: "
      "compile with CUDA 12.5 or newer");
  static_assert(selector >= 0 && selector <= 3,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16: the sparsity "
                "selector must be 0, 1, 2 or 3");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4, %5}, "
      "{%6, %7}, %8, %9;"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(e), "n"(selector));
}

// mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c, e, selector;
// PTX ISA 7.1, sm_80. SASS: HMMA.SP.16816.F32;
// on sm_100 and newer emulated: metadata in any order is first sorted, by a CALL with SHFL.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(
    float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[2], const float (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(
      selector >= 0 && selector <= 3,
      "mma_sp_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32: the sparsity selector must be 0, 1, 2 or 3");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, "
      "%10, %11}, %12, %13;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e),
        "n"(selector));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_80. SASS: HMMA.SP.16816.F32.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(
    float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[2], const float (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32 needs "
                "sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(
      cuda_at_least<12, 5, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32 needs PTX ISA 8.5: "
      "compile with CUDA 12.5 or newer");
  static_assert(selector >= 0 && selector <= 3,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32: the sparsity "
                "selector must be 0, 1, 2 or 3");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
      "{%6, %7}, {%8, %9, %10, %11}, %12, %13;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e),
        "n"(selector));
}

// mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 d, a, b, c, e, selector;
// PTX ISA 7.1, sm_80. SASS: HMMA.SP.16832.F16;
// on sm_100 and newer emulated: metadata in any order is first sorted, by a CALL with SHFL.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k32_row_col_f16_f16_f16_f16(
    uint32_t (&d)[2], const uint32_t (&a)[4], const uint32_t (&b)[4], const uint32_t (&c)[2], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k32_row_col_f16_f16_f16_f16 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(selector >= 0 && selector <= 1,
                "mma_sp_sync_aligned_m16n8k32_row_col_f16_f16_f16_f16: the sparsity selector must be 0 or 1");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7, %8, %9}, "
      "{%10, %11}, %12, %13;"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]),
        "r"(c[1]), "r"(e), "n"(selector));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_80. SASS: HMMA.SP.16832.F16.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f16_f16_f16_f16(
    uint32_t (&d)[2], const uint32_t (&a)[4], const uint32_t (&b)[4], const uint32_t (&c)[2], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f16_f16_f16_f16 needs "
                "sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(
      cuda_at_least<12, 5, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f16_f16_f16_f16 needs PTX ISA 8.5: "
      "compile with CUDA 12.5 or newer");
  static_assert(selector >= 0 && selector <= 1,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f16_f16_f16_f16: the sparsity "
                "selector must be 0 or 1");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, "
      "{%6, %7, %8, %9}, {%10, %11}, %12, %13;"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]),
        "r"(c[1]), "r"(e), "n"(selector));
}

// mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 d, a, b, c, e, selector;
// PTX ISA 7.1, sm_80. SASS: HMMA.SP.16832.F32;
// on sm_100 and newer emulated: metadata in any order is first sorted, by a CALL with SHFL.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k32_row_col_f32_f16_f16_f32(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k32_row_col_f32_f16_f16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(selector >= 0 && selector <= 1,
                "mma_sp_sync_aligned_m16n8k32_row_col_f32_f16_f16_f32: the sparsity selector must be 0 or 1");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, "
      "%10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_80. SASS: HMMA.SP.16832.F32.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f32_f16_f16_f32(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f32_f16_f16_f32 needs "
                "sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(
      cuda_at_least<12, 5, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f32_f16_f16_f32 needs PTX ISA 8.5: "
      "compile with CUDA 12.5 or newer");
  static_assert(selector >= 0 && selector <= 1,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f32_f16_f16_f32: the sparsity "
                "selector must be 0 or 1");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
      "%7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector));
}

}  // namespace tenon::ptx
