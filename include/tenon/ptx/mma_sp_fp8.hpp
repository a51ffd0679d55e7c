// D = A * B + C with A half zeros, on fp8: A is 16 x 64 row-major, B is 64 x 8 column-major, C and D are 16
// x 8, f32 or f16. The types A and B are type_e4m3 or type_e5m2, each.
//
// The fast sparse fp8 of sm_90a is wgmma, of sm_100a tcgen05: there these forms unpack to f16. Fragments,
// metadata and the selector 0 are those of m16n8k64 in mma_sp_int8.hpp. d and c may be the same array.
#pragma once

#include "tenon/ptx/arch.hpp"
#include "tenon/ptx/needs_nvcc.hpp"
#include "tenon/ptx/operand_types.hpp"

namespace tenon::ptx {

// mma.sp.sync.aligned.m16n8k64.row.col.f32.A.B.f32 d, a, b, c, e, selector;
// PTX ISA 8.4, sm_89. SASS: QMMA.SP.16864.F32.A.B (sm_89, sm_120a, sm_121a);
// on sm_90 to sm_110a emulated: 2 x HMMA.SP, unpacking and SHFL.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k64_row_col_f32_f32(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e) {
  static_assert(sm_at_least<89, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k64_row_col_f32_f32 needs sm_89 or newer: "
                "compile with -arch=sm_89 or above");
  static_assert(is_fp8<A> && is_fp8<B>, "the types of A and B must be type_e4m3 or type_e5m2");
  static_assert(selector == 0,
                "mma_sp_sync_aligned_m16n8k64_row_col_f32_f32: the sparsity selector must be 0");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k64.row.col.f32.%18.%19.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, "
      "%10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector), "C"(A::name), "C"(B::name));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.A.B.f32 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_89. SASS: QMMA.SP.16864.F32.A.B (sm_89, sm_120a, sm_121a);
// on sm_90 to sm_110a emulated: 2 x HMMA.SP, unpacking and SHFL.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_f32_f32(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e) {
  static_assert(
      sm_at_least<89, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_f32_f32 needs sm_89 or newer: "
      "compile with -arch=sm_89 or above");
  static_assert(
      cuda_at_least<12, 5, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_f32_f32 needs PTX ISA 8.5: "
      "compile with CUDA 12.5 or newer");
  static_assert(is_fp8<A> && is_fp8<B>, "the types of A and B must be type_e4m3 or type_e5m2");
  static_assert(
      selector == 0,
      "mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_f32_f32: the sparsity selector must be 0");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.%18.%19.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
      "%7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector), "C"(A::name), "C"(B::name));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.A.B.f16 d, a, b, c, e, selector;
// PTX ISA 8.7, sm_120a. SASS: QMMA.SP.16864.F16.A.B.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_f16_f16(
    uint32_t (&d)[2], const uint32_t (&a)[4], const uint32_t (&b)[4], const uint32_t (&c)[2], uint32_t e) {
  static_assert(
      is_specific_target<Dependent, 120, 121>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_f16_f16 needs sm_120a or sm_121a: "
      "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(
      cuda_at_least<12, 8, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_f16_f16 needs PTX ISA 8.7: "
      "compile with CUDA 12.8 or newer");
  static_assert(is_fp8<A> && is_fp8<B>, "the types of A and B must be type_e4m3 or type_e5m2");
  static_assert(
      selector == 0,
      "mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_f16_f16: the sparsity selector must be 0");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.%14.%15.f16 {%0, %1}, {%2, %3, %4, %5}, "
      "{%6, %7, %8, %9}, {%10, %11}, %12, %13;"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]),
        "r"(c[1]), "r"(e), "n"(selector), "C"(A::name), "C"(B::name));
}

}  // namespace tenon::ptx
