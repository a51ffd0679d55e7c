// D = A * B + C on floats of 8, 6 or 4 bits, each operand of its own type: the warp's tensor instruction of
// sm_120a.
//
// A is 16 x k row-major, B is k x 8 column-major, C and D are 16 x 8. Every element sits in a byte: of 6
// bits in bits 0-5, of 4 bits (e2m1) in bits 2-5; ldmatrix_narrow.hpp unpacks so from shared memory, but
// for e2m1, which it leaves in bits 0-3: shift left by two. In lane l, with g = l / 4 and t = l % 4:
//   a[r]:                   row g + 8 * (r % 2), columns 4t + 16 * (r / 2) and the next three
//   b[r]:                   rows 4t + 16r and the next three, column g
//   c, d (f32) element i:   row g + 8 * (i / 2), column 2t + i % 2
//   c, d (f16) register r:  elements 2r (low half) and 2r + 1
// The sparse forms: A, metadata and selector as for m16n8k64 in mma_sp_int8.hpp. d and c may be the same
// array. (PTX ISA, "Matrix Fragments for mma.m16n8k32" and "mma with .kind::f8f6f4".)
#pragma once

#include "tenon/ptx/arch.hpp"
#include "tenon/ptx/needs_nvcc.hpp"
#include "tenon/ptx/operand_types.hpp"

namespace tenon::ptx {

// The targets of kind::f8f6f4. Types of 8 bits also exist on targets with tcgen05, where ptxas unpacks them.
template <class A, class B, class Dependent>
inline constexpr bool has_f8f6f4 = is_specific_target<Dependent, 120, 121> ||
                                   (is_fp8<A> && is_fp8<B> && is_specific_target<Dependent, 100, 103, 110>);

// mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.A.B.f32 d, a, b, c;
// PTX ISA 8.7, sm_100a. SASS: QMMA.16816.F32.A.B (sm_120a, sm_121a);
// on sm_100a to sm_110a emulated: 2 x HMMA and unpacking. Not in the text of the PTX ISA.
template <class A, class B, class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_kind_f8f6f4_f32_f32(float (&d)[4],
                                                                                      const uint32_t (&a)[2],
                                                                                      const uint32_t (&b)[1],
                                                                                      const float (&c)[4]) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_kind_f8f6f4_f32_f32 needs sm_100a, sm_103a, "
                "sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_kind_f8f6f4_f32_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(is_fp8<A> && is_fp8<B>, "the types of A and B must be type_e4m3 or type_e5m2");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.%11.%12.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, "
      "%8, %9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "C"(A::name),
        "C"(B::name));
}

// mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.A.B.f16 d, a, b, c;
// PTX ISA 8.7, sm_100a. SASS: QMMA.16816.F16.A.B (sm_120a, sm_121a);
// on sm_100a to sm_110a emulated: 2 x HMMA and unpacking. Not in the text of the PTX ISA.
template <class A, class B, class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_kind_f8f6f4_f16_f16(
    uint32_t (&d)[2], const uint32_t (&a)[2], const uint32_t (&b)[1], const uint32_t (&c)[2]) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_kind_f8f6f4_f16_f16 needs sm_100a, sm_103a, "
                "sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_kind_f8f6f4_f16_f16 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(is_fp8<A> && is_fp8<B>, "the types of A and B must be type_e4m3 or type_e5m2");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.%7.%8.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "C"(A::name), "C"(B::name));
}

// mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.A.B.f32 d, a, b, c;
// PTX ISA 8.7, sm_120a. SASS: QMMA.16832.F32.A.B;
// for e4m3 and e5m2 on sm_100a to sm_110a emulated: 2 x HMMA and unpacking.
template <class A, class B, class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_kind_f8f6f4_f32_f32(float (&d)[4],
                                                                                      const uint32_t (&a)[4],
                                                                                      const uint32_t (&b)[2],
                                                                                      const float (&c)[4]) {
  static_assert(has_f8f6f4<A, B, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_kind_f8f6f4_f32_f32 needs sm_120a or sm_121a, "
                "for e4m3 and e5m2 alone also sm_100a, sm_103a or sm_110a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_kind_f8f6f4_f32_f32 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(is_f8f6f4<A> && is_f8f6f4<B>,
                "the types of A and B must be type_e4m3, type_e5m2, type_e2m3, type_e3m2 or type_e2m1");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.%14.%15.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]), "C"(A::name), "C"(B::name));
}

// mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.A.B.f16 d, a, b, c;
// PTX ISA 8.7, sm_120a. SASS: QMMA.16832.F16.A.B;
// for e4m3 and e5m2 on sm_100a to sm_110a emulated: 2 x HMMA and unpacking.
template <class A, class B, class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k32_row_col_kind_f8f6f4_f16_f16(
    uint32_t (&d)[2], const uint32_t (&a)[4], const uint32_t (&b)[2], const uint32_t (&c)[2]) {
  static_assert(has_f8f6f4<A, B, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_kind_f8f6f4_f16_f16 needs sm_120a or sm_121a, "
                "for e4m3 and e5m2 alone also sm_100a, sm_103a or sm_110a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_kind_f8f6f4_f16_f16 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(is_f8f6f4<A> && is_f8f6f4<B>,
                "the types of A and B must be type_e4m3, type_e5m2, type_e2m3, type_e3m2 or type_e2m1");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.%10.%11.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%8, %9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "C"(A::name),
        "C"(B::name));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.A.B.f32 d, a, b, c, e, selector;
// PTX ISA 8.7, sm_120a. SASS: QMMA.SP.16864.F32.A.B;
// for e4m3 and e5m2 on sm_100a to sm_110a emulated: 2 x HMMA.SP and unpacking.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_f8f6f4_f32_f32(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e) {
  static_assert(has_f8f6f4<A, B, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_f8f6f4_f32_f32 needs "
                "sm_120a or sm_121a, for e4m3 and e5m2 alone also sm_100a, sm_103a or sm_110a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_f8f6f4_f32_f32 needs "
                "PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(is_f8f6f4<A> && is_f8f6f4<B>,
                "the types of A and B must be type_e4m3, type_e5m2, type_e2m3, type_e3m2 or type_e2m1");
  static_assert(selector == 0,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_f8f6f4_f32_f32: the sparsity "
                "selector must be 0");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.%18.%19.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector), "C"(A::name), "C"(B::name));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.A.B.f16 d, a, b, c, e, selector;
// PTX ISA 8.7, sm_120a. SASS: QMMA.SP.16864.F16.A.B.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_f8f6f4_f16_f16(
    uint32_t (&d)[2], const uint32_t (&a)[4], const uint32_t (&b)[4], const uint32_t (&c)[2], uint32_t e) {
  static_assert(is_specific_target<Dependent, 120, 121>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_f8f6f4_f16_f16 needs "
                "sm_120a or sm_121a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_f8f6f4_f16_f16 needs "
                "PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(is_f8f6f4<A> && is_f8f6f4<B>,
                "the types of A and B must be type_e4m3, type_e5m2, type_e2m3, type_e3m2 or type_e2m1");
  static_assert(selector == 0,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_f8f6f4_f16_f16: the sparsity "
                "selector must be 0");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.%14.%15.f16 {%0, %1}, {%2, "
      "%3, %4, %5}, {%6, %7, %8, %9}, {%10, %11}, %12, %13;"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]),
        "r"(c[1]), "r"(e), "n"(selector), "C"(A::name), "C"(B::name));
}

}  // namespace tenon::ptx
