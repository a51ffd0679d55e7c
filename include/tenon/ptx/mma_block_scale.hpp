// D = (A * scale_a) * (B * scale_b) + C on floats of 8, 6 or 4 bits that share scales in blocks along k:
// sm_120a.
//
// A is 16 x k row-major, B is k x 8 column-major, C and D are 16 x 8, f32. mxf8f6f4 has one ue8m0 scale a
// row of A and a column of B (1X: each covers the whole k of the instruction), mxf4 two (2X), mxf4nvf4 two
// of ue8m0 or four of ue4m3 (4X). Fragments of mxf8f6f4: mma_f8f6f4.hpp. mxf4 and mxf4nvf4 pack two e2m1 a
// byte: fragments as those of 4-bit integers, mma_int4.hpp; sparse ones: mma_sp_int8.hpp, mma_sp_int4.hpp
// (a pair of e2m1 is one index). In lane l, with g = l / 4 and t = l % 4, selected at compile time, for a
// selector in a register costs ten more instructions:
//   scale_a, lanes with t == 2 * thread_a + s (s = 0, 1): the scales of row g + 8s
//   scale_b, lanes with t == thread_b: the scales of column g
//   1X: byte byte_a or byte_b (0 to 3); 2X: that byte (0 or 2) and the next; 4X: all four bytes (0)
// d and c may be the same array. (PTX ISA, "Block scaling for mma.sync".)
#pragma once

#include "tenon/ptx/arch.hpp"
#include "tenon/ptx/needs_nvcc.hpp"
#include "tenon/ptx/operand_types.hpp"

namespace tenon::ptx {

// mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.A.B.f32.ue8m0 d, a, b, c,
// scale_a, {byte_a, thread_a}, scale_b, {byte_b, thread_b}; PTX ISA 8.7, sm_120a. SASS:
// QMMA.SF.16832.F32.A.B.E8.
template <class A, class B, int byte_a, int thread_a, int byte_b, int thread_b, class Dependent = void>
__device__ __forceinline__ void
mma_sync_aligned_m16n8k32_row_col_kind_mxf8f6f4_block_scale_scale_vec_1X_f32_f32_ue8m0(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4], uint32_t scale_a,
    uint32_t scale_b) {
  static_assert(is_specific_target<Dependent, 120, 121>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_kind_mxf8f6f4_block_scale_scale_vec_1X_f32_"
                "f32_ue8m0 needs sm_120a or sm_121a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k32_row_col_kind_mxf8f6f4_block_scale_scale_vec_1X_f32_"
                "f32_ue8m0 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(is_f8f6f4<A> && is_f8f6f4<B>,
                "the types of A and B must be type_e4m3, type_e5m2, type_e2m3, type_e3m2 or type_e2m1");
  static_assert(byte_a >= 0 && byte_a <= 3 && byte_b >= 0 && byte_b <= 3,
                "mma_sync_aligned_m16n8k32_row_col_kind_mxf8f6f4_block_scale_scale_vec_1X_f32_f32_ue8m0: "
                "byte_a and byte_b must be 0, 1, 2 or 3");
  static_assert((thread_a == 0 || thread_a == 1) && thread_b >= 0 && thread_b <= 3,
                "mma_sync_aligned_m16n8k32_row_col_kind_mxf8f6f4_block_scale_scale_vec_1X_f32_f32_ue8m0: "
                "thread_a must be 0 or 1, thread_b 0, 1, 2 or 3");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.%20.%21.f32.ue8m0 {%0, "
      "%1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}, %14, {%15, %16}, %17, {%18, %19};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]), "r"(scale_a), "n"(byte_a), "n"(thread_a), "r"(scale_b), "n"(byte_b), "n"(thread_b),
        "C"(A::name), "C"(B::name));
}

// mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c,
// scale_a, {byte_a, thread_a}, scale_b, {byte_b, thread_b}; PTX ISA 8.7, sm_120a. SASS:
// OMMA.SF.16864.F32.E2M1.E2M1.E8.
template <int byte_a, int thread_a, int byte_b, int thread_b, class Dependent = void>
__device__ __forceinline__ void
mma_sync_aligned_m16n8k64_row_col_kind_mxf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4], uint32_t scale_a,
    uint32_t scale_b) {
  static_assert(is_specific_target<Dependent, 120, 121>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_kind_mxf4_block_scale_scale_vec_2X_f32_e2m1_"
                "e2m1_f32_ue8m0 needs sm_120a or sm_121a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_kind_mxf4_block_scale_scale_vec_2X_f32_e2m1_"
                "e2m1_f32_ue8m0 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert((byte_a == 0 || byte_a == 2) && (byte_b == 0 || byte_b == 2),
                "mma_sync_aligned_m16n8k64_row_col_kind_mxf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_"
                "ue8m0: byte_a and byte_b must be 0 or 2");
  static_assert((thread_a == 0 || thread_a == 1) && thread_b >= 0 && thread_b <= 3,
                "mma_sync_aligned_m16n8k64_row_col_kind_mxf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_"
                "ue8m0: thread_a must be 0 or 1, thread_b 0, 1, 2 or 3");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {%0, "
      "%1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}, %14, {%15, %16}, %17, {%18, %19};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]), "r"(scale_a), "n"(byte_a), "n"(thread_a), "r"(scale_b), "n"(byte_b), "n"(thread_b));
}

// mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 d, a, b,
// c, scale_a, {byte_a, thread_a}, scale_b, {byte_b, thread_b}; PTX ISA 8.7, sm_120a. SASS:
// OMMA.SF.16864.F32.E2M1.E2M1.E8.
template <int byte_a, int thread_a, int byte_b, int thread_b, class Dependent = void>
__device__ __forceinline__ void
mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4], uint32_t scale_a,
    uint32_t scale_b) {
  static_assert(is_specific_target<Dependent, 120, 121>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_2X_f32_"
                "e2m1_e2m1_f32_ue8m0 needs sm_120a or sm_121a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_2X_f32_"
                "e2m1_e2m1_f32_ue8m0 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert((byte_a == 0 || byte_a == 2) && (byte_b == 0 || byte_b == 2),
                "mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_"
                "ue8m0: byte_a and byte_b must be 0 or 2");
  static_assert((thread_a == 0 || thread_a == 1) && thread_b >= 0 && thread_b <= 3,
                "mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_"
                "ue8m0: thread_a must be 0 or 1, thread_b 0, 1, 2 or 3");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}, %14, {%15, %16}, %17, {%18, %19};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]), "r"(scale_a), "n"(byte_a), "n"(thread_a), "r"(scale_b), "n"(byte_b), "n"(thread_b));
}

// mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 d, a, b,
// c, scale_a, {byte_a, thread_a}, scale_b, {byte_b, thread_b}; PTX ISA 8.7, sm_120a. SASS:
// OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X.
template <int byte_a, int thread_a, int byte_b, int thread_b, class Dependent = void>
__device__ __forceinline__ void
mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_4X_f32_e2m1_e2m1_f32_ue4m3(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4], uint32_t scale_a,
    uint32_t scale_b) {
  static_assert(is_specific_target<Dependent, 120, 121>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_4X_f32_"
                "e2m1_e2m1_f32_ue4m3 needs sm_120a or sm_121a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_4X_f32_"
                "e2m1_e2m1_f32_ue4m3 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(byte_a == 0 && byte_b == 0,
                "mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_4X_f32_e2m1_e2m1_f32_"
                "ue4m3: byte_a and byte_b must be 0");
  static_assert((thread_a == 0 || thread_a == 1) && thread_b >= 0 && thread_b <= 3,
                "mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_4X_f32_e2m1_e2m1_f32_"
                "ue4m3: thread_a must be 0 or 1, thread_b 0, 1, 2 or 3");
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}, %14, {%15, %16}, %17, {%18, %19};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]), "r"(scale_a), "n"(byte_a), "n"(thread_a), "r"(scale_b), "n"(byte_b), "n"(thread_b));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.A.B.f32.ue8m0
// d, a, b, c, e, selector, scale_a, {byte_a, thread_a}, scale_b, {byte_b, thread_b}; PTX ISA 8.7, sm_120a.
// SASS: QMMA.SF.SP.16864.F32.A.B.E8.
template <class A, class B, int selector, int byte_a, int thread_a, int byte_b, int thread_b,
          class Dependent = void>
__device__ __forceinline__ void
mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_mxf8f6f4_block_scale_scale_vec_1X_f32_f32_ue8m0(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e,
    uint32_t scale_a, uint32_t scale_b) {
  static_assert(is_specific_target<Dependent, 120, 121>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_mxf8f6f4_block_scale_"
                "scale_vec_1X_f32_f32_ue8m0 needs sm_120a or sm_121a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_mxf8f6f4_block_scale_"
                "scale_vec_1X_f32_f32_ue8m0 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(is_f8f6f4<A> && is_f8f6f4<B>,
                "the types of A and B must be type_e4m3, type_e5m2, type_e2m3, type_e3m2 or type_e2m1");
  static_assert(selector == 0,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_mxf8f6f4_block_scale_scale_vec_"
                "1X_f32_f32_ue8m0: the sparsity selector must be 0");
  static_assert(byte_a >= 0 && byte_a <= 3 && byte_b >= 0 && byte_b <= 3,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_mxf8f6f4_block_scale_scale_vec_"
                "1X_f32_f32_ue8m0: byte_a and byte_b must be 0, 1, 2 or 3");
  static_assert((thread_a == 0 || thread_a == 1) && thread_b >= 0 && thread_b <= 3,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_mxf8f6f4_block_scale_scale_vec_"
                "1X_f32_f32_ue8m0: thread_a must be 0 or 1, thread_b 0, 1, 2 or 3");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.%"
      "24.%25.f32.ue8m0 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, "
      "%17, %18, {%19, %20}, %21, {%22, %23};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector), "r"(scale_a), "n"(byte_a), "n"(thread_a),
        "r"(scale_b), "n"(byte_b), "n"(thread_b), "C"(A::name), "C"(B::name));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
// d, a, b, c, e, selector, scale_a, {byte_a, thread_a}, scale_b, {byte_b, thread_b}; PTX ISA 8.7, sm_120a.
// SASS: OMMA.SF.SP.168128.F32.E2M1.E2M1.E8.
template <int selector, int byte_a, int thread_a, int byte_b, int thread_b, class Dependent = void>
__device__ __forceinline__ void
mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e,
    uint32_t scale_a, uint32_t scale_b) {
  static_assert(is_specific_target<Dependent, 120, 121>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4_block_scale_"
                "scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0 needs sm_120a or sm_121a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4_block_scale_"
                "scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(selector == 0,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4_block_scale_scale_vec_2X_"
                "f32_e2m1_e2m1_f32_ue8m0: the sparsity selector must be 0");
  static_assert((byte_a == 0 || byte_a == 2) && (byte_b == 0 || byte_b == 2),
                "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4_block_scale_scale_vec_2X_"
                "f32_e2m1_e2m1_f32_ue8m0: byte_a and byte_b must be 0 or 2");
  static_assert((thread_a == 0 || thread_a == 1) && thread_b >= 0 && thread_b <= 3,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4_block_scale_scale_vec_2X_"
                "f32_e2m1_e2m1_f32_ue8m0: thread_a must be 0 or 1, thread_b 0, 1, 2 or 3");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1."
      "e2m1.f32.ue8m0 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, "
      "%17, %18, {%19, %20}, %21, {%22, %23};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector), "r"(scale_a), "n"(byte_a), "n"(thread_a),
        "r"(scale_b), "n"(byte_b), "n"(thread_b));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
// d, a, b, c, e, selector, scale_a, {byte_a, thread_a}, scale_b, {byte_b, thread_b}; PTX ISA 8.7, sm_120a.
// SASS: OMMA.SF.SP.168128.F32.E2M1.E2M1.E8.
template <int selector, int byte_a, int thread_a, int byte_b, int thread_b, class Dependent = void>
__device__ __forceinline__ void
mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e,
    uint32_t scale_a, uint32_t scale_b) {
  static_assert(is_specific_target<Dependent, 120, 121>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_"
                "scale_scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0 needs sm_120a or sm_121a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_"
                "scale_scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(selector == 0,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_scale_scale_vec_"
                "2X_f32_e2m1_e2m1_f32_ue8m0: the sparsity selector must be 0");
  static_assert((byte_a == 0 || byte_a == 2) && (byte_b == 0 || byte_b == 2),
                "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_scale_scale_vec_"
                "2X_f32_e2m1_e2m1_f32_ue8m0: byte_a and byte_b must be 0 or 2");
  static_assert((thread_a == 0 || thread_a == 1) && thread_b >= 0 && thread_b <= 3,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_scale_scale_vec_"
                "2X_f32_e2m1_e2m1_f32_ue8m0: thread_a must be 0 or 1, thread_b 0, 1, 2 or 3");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32."
      "e2m1.e2m1.f32.ue8m0 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, "
      "%16, %17, %18, {%19, %20}, %21, {%22, %23};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector), "r"(scale_a), "n"(byte_a), "n"(thread_a),
        "r"(scale_b), "n"(byte_b), "n"(thread_b));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3
// d, a, b, c, e, selector, scale_a, {byte_a, thread_a}, scale_b, {byte_b, thread_b}; PTX ISA 8.7, sm_120a.
// SASS: OMMA.SF.SP.168128.F32.E2M1.E2M1.UE4M3.4X.
template <int selector, int byte_a, int thread_a, int byte_b, int thread_b, class Dependent = void>
__device__ __forceinline__ void
mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_scale_scale_vec_4X_f32_e2m1_e2m1_f32_ue4m3(
    float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const float (&c)[4], uint32_t e,
    uint32_t scale_a, uint32_t scale_b) {
  static_assert(is_specific_target<Dependent, 120, 121>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_"
                "scale_scale_vec_4X_f32_e2m1_e2m1_f32_ue4m3 needs sm_120a or sm_121a: "
                "compile with -gencode arch=compute_120a,code=sm_120a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_"
                "scale_scale_vec_4X_f32_e2m1_e2m1_f32_ue4m3 needs PTX ISA 8.7: "
                "compile with CUDA 12.8 or newer");
  static_assert(selector == 0,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_scale_scale_vec_"
                "4X_f32_e2m1_e2m1_f32_ue4m3: the sparsity selector must be 0");
  static_assert(byte_a == 0 && byte_b == 0,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_scale_scale_vec_"
                "4X_f32_e2m1_e2m1_f32_ue4m3: byte_a and byte_b must be 0");
  static_assert((thread_a == 0 || thread_a == 1) && thread_b >= 0 && thread_b <= 3,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_scale_scale_vec_"
                "4X_f32_e2m1_e2m1_f32_ue4m3: thread_a must be 0 or 1, thread_b 0, 1, 2 or 3");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32."
      "e2m1.e2m1.f32.ue4m3 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, "
      "%16, %17, %18, {%19, %20}, %21, {%22, %23};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(e), "n"(selector), "r"(scale_a), "n"(byte_a), "n"(thread_a),
        "r"(scale_b), "n"(byte_b), "n"(thread_b));
}

}  // namespace tenon::ptx
