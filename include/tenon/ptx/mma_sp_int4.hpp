// D = A * B + C with A half zeros, on 4-bit integers: A is 16 x k row-major, B is k x 8 column-major, C and
// D are 16 x 8, s32. The types A and B are type_s4 or type_u4, each. On sm_90 and newer the chip has no
// 4-bit tensor instruction: ptxas unpacks to 8 bits, ordered metadata or not.
//
// .satfinite clamps to the range of s32 where the plain form wraps. A keeps two of every four *pairs* of
// neighbours along k; an index of `e` is that of a pair (mma_sp_f16.hpp explains the metadata). In lane l,
// with g = l / 4 and t = l % 4:
//   a[r]:            the four kept pairs of row g + 8 * (r % 2) in columns 16t + 64 * (r / 2) and the next
//                    fifteen
//   b[r]:            rows 8t + 32r and the next seven, column g
//   c, d element i:  row g + 8 * (i / 2), column 2t + i % 2
//   e, m16n8k64, lanes with t / 2 == selector (0, 1): row g + 8 * (t % 2); nibble i is columns 8i to 8i + 7
//   e, m16n8k128, every lane, selector 0: row g + 8 * (t % 2), columns 64 * (t / 2) and after
// d and c may be the same array.
#pragma once

#include "tenon/ptx/arch.hpp"
#include "tenon/ptx/needs_nvcc.hpp"
#include "tenon/ptx/operand_types.hpp"

namespace tenon::ptx {

// mma.sp.sync.aligned.m16n8k64.row.col.s32.A.B.s32 d, a, b, c, e, selector;
// PTX ISA 7.1, sm_80. SASS: IMMA.SP.16864.A.B;
// on sm_90 and newer emulated: 2 x IMMA.SP on 8-bit integers and their unpacking.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k64_row_col_s32_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[2], const int32_t (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k64_row_col_s32_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(is_int4<A> && is_int4<B>, "the types of A and B must be type_s4 or type_u4");
  static_assert(selector >= 0 && selector <= 1,
                "mma_sp_sync_aligned_m16n8k64_row_col_s32_s32: the sparsity selector must be 0 or 1");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k64.row.col.s32.%14.%15.s32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, "
      "%10, %11}, %12, %13;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(e),
        "n"(selector), "C"(A::name), "C"(B::name));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.A.B.s32 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_80. SASS: IMMA.SP.16864.A.B;
// on sm_90 and newer emulated: 2 x IMMA.SP on 8-bit integers and their unpacking.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_s32_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[2], const int32_t (&c)[4], uint32_t e) {
  static_assert(
      sm_at_least<80, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_s32_s32 needs sm_80 or newer: "
      "compile with -arch=sm_80 or above");
  static_assert(
      cuda_at_least<12, 5, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_s32_s32 needs PTX ISA 8.5: "
      "compile with CUDA 12.5 or newer");
  static_assert(is_int4<A> && is_int4<B>, "the types of A and B must be type_s4 or type_u4");
  static_assert(
      selector >= 0 && selector <= 1,
      "mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_s32_s32: the sparsity selector must be 0 or 1");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.%14.%15.s32 {%0, %1, %2, %3}, {%4, %5}, "
      "{%6, %7}, {%8, %9, %10, %11}, %12, %13;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(e),
        "n"(selector), "C"(A::name), "C"(B::name));
}

// mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.A.B.s32 d, a, b, c, e, selector;
// PTX ISA 7.1, sm_80. SASS: IMMA.SP.16864.A.B.SAT;
// on sm_90 and newer emulated: 2 x IMMA.SP on 8-bit integers and their unpacking.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k64_row_col_satfinite_s32_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[2], const int32_t (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k64_row_col_satfinite_s32_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(is_int4<A> && is_int4<B>, "the types of A and B must be type_s4 or type_u4");
  static_assert(
      selector >= 0 && selector <= 1,
      "mma_sp_sync_aligned_m16n8k64_row_col_satfinite_s32_s32: the sparsity selector must be 0 or 1");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.%14.%15.s32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, "
      "{%8, %9, %10, %11}, %12, %13;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(e),
        "n"(selector), "C"(A::name), "C"(B::name));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.A.B.s32 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_80. SASS: IMMA.SP.16864.A.B.SAT;
// on sm_90 and newer emulated: 2 x IMMA.SP on 8-bit integers and their unpacking.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_satfinite_s32_s32(
    int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[2], const int32_t (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_satfinite_s32_s32 needs "
                "sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(cuda_at_least<12, 5, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_satfinite_s32_s32 needs "
                "PTX ISA 8.5: "
                "compile with CUDA 12.5 or newer");
  static_assert(is_int4<A> && is_int4<B>, "the types of A and B must be type_s4 or type_u4");
  static_assert(selector >= 0 && selector <= 1,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_satfinite_s32_s32: the sparsity "
                "selector must be 0 or 1");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.%14.%15.s32 {%0, %1, %2, %3}, "
      "{%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, %13;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(e),
        "n"(selector), "C"(A::name), "C"(B::name));
}

// mma.sp.sync.aligned.m16n8k128.row.col.s32.A.B.s32 d, a, b, c, e, selector;
// PTX ISA 7.1, sm_80. SASS: IMMA.SP.168128.A.B;
// on sm_90 and newer emulated: 2 x IMMA.SP on 8-bit integers and their unpacking.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k128_row_col_s32_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const int32_t (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k128_row_col_s32_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(is_int4<A> && is_int4<B>, "the types of A and B must be type_s4 or type_u4");
  static_assert(selector == 0,
                "mma_sp_sync_aligned_m16n8k128_row_col_s32_s32: the sparsity selector must be 0");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k128.row.col.s32.%18.%19.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, "
      "%10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]),
        "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(e), "n"(selector), "C"(A::name), "C"(B::name));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.A.B.s32 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_80. SASS: IMMA.SP.168128.A.B;
// on sm_90 and newer emulated: 2 x IMMA.SP on 8-bit integers and their unpacking.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_s32_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const int32_t (&c)[4], uint32_t e) {
  static_assert(
      sm_at_least<80, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_s32_s32 needs sm_80 or newer: "
      "compile with -arch=sm_80 or above");
  static_assert(
      cuda_at_least<12, 5, Dependent>,
      "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_s32_s32 needs PTX ISA 8.5: "
      "compile with CUDA 12.5 or newer");
  static_assert(is_int4<A> && is_int4<B>, "the types of A and B must be type_s4 or type_u4");
  static_assert(
      selector == 0,
      "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_s32_s32: the sparsity selector must be 0");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.%18.%19.s32 {%0, %1, %2, %3}, {%4, %5, "
      "%6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]),
        "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(e), "n"(selector), "C"(A::name), "C"(B::name));
}

// mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.A.B.s32 d, a, b, c, e, selector;
// PTX ISA 7.1, sm_80. SASS: IMMA.SP.168128.A.B.SAT;
// on sm_90 and newer emulated: 2 x IMMA.SP on 8-bit integers and their unpacking.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_sync_aligned_m16n8k128_row_col_satfinite_s32_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const int32_t (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_sync_aligned_m16n8k128_row_col_satfinite_s32_s32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(is_int4<A> && is_int4<B>, "the types of A and B must be type_s4 or type_u4");
  static_assert(selector == 0,
                "mma_sp_sync_aligned_m16n8k128_row_col_satfinite_s32_s32: the sparsity selector must be 0");
  asm volatile(
      "mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.%18.%19.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]),
        "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(e), "n"(selector), "C"(A::name), "C"(B::name));
}

// mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.A.B.s32 d, a, b, c, e, selector;
// PTX ISA 8.5, sm_80. SASS: IMMA.SP.168128.A.B.SAT;
// on sm_90 and newer emulated: 2 x IMMA.SP on 8-bit integers and their unpacking.
template <class A, class B, int selector, class Dependent = void>
__device__ __forceinline__ void mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_satfinite_s32_s32(
    int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], const int32_t (&c)[4], uint32_t e) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_satfinite_s32_s32 needs "
                "sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(cuda_at_least<12, 5, Dependent>,
                "tenon::ptx::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_satfinite_s32_s32 needs "
                "PTX ISA 8.5: "
                "compile with CUDA 12.5 or newer");
  static_assert(is_int4<A> && is_int4<B>, "the types of A and B must be type_s4 or type_u4");
  static_assert(selector == 0,
                "mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_satfinite_s32_s32: the sparsity "
                "selector must be 0");
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.%18.%19.s32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, %17;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]),
        "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(e), "n"(selector), "C"(A::name), "C"(B::name));
}

}  // namespace tenon::ptx
