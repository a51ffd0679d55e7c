// D = A * B + C with A half zeros, on bf16: A is 16 x k row-major, B is k x 8 column-major, C and D are 16
// x 8, f32.
//
// Fragments, metadata and selectors are those of mma_sp_f16.hpp. Unlike there ptxas adds no sorting code to
// the unordered form on sm_100 and newer; give it ordered metadata, too.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 d, a, b, c, e, selector;
// PTX ISA 7.1, sm_80. SASS: HMMA.SP.16816.F32.BF16.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32(
    float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[2], const float (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(
      selector >= 0 && selector <= 3,
      "mma_sp_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32: the sparsity selector must be 0, 1, 2 or 3");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, "
      "%10, %11}, %12, %13;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e),
        "n"(selector));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_80. SASS: HMMA.SP.16816.F32.BF16.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32(
    float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[2], const float (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32 needs "
                "sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(cuda_at_least<12, 5, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32 needs "
                "PTX ISA 8.5: "
                "compile with CUDA 12.5 or newer");
  static_assert(selector >= 0 && selector <= 3,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32: the sparsity "
                "selector must be 0, 1, 2 or 3");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, "
      "{%6, %7}, {%8, %9, %10, %11}, %12, %13;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e),
        "n"(selector));
}

// mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 d, a, b, c, e, selector;
// PTX ISA 7.1, sm_80. SASS: HMMA.SP.16832.F32.BF16.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k32_row_col_f32_bf16_bf16_f32(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k32_row_col_f32_bf16_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(
      selector >= 0 && selector <= 1,
      "mma_sp_sync_aligned_m16n8k32_row_col_f32_bf16_bf16_f32: the sparsity selector must be 0 or 1");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, "
      "%10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_80. SASS: HMMA.SP.16832.F32.BF16.
template <int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f32_bf16_bf16_f32(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f32_bf16_bf16_f32 needs "
                "sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(cuda_at_least<12, 5, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f32_bf16_bf16_f32 needs "
                "PTX ISA 8.5: "
                "compile with CUDA 12.5 or newer");
  static_assert(selector >= 0 && selector <= 1,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k32_row_col_f32_bf16_bf16_f32: the sparsity "
                "selector must be 0 or 1");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, "
      "%6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector));
}

}  // namespace tenon::ptx
