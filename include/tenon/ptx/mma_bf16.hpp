// D = A * B + C on bf16 operands: A is 16 x k row-major, B is k x 8 column-major, C and D are 16 x 8 of f32.
//
// The fragments are those of mma_f16.hpp with bf16 in place of f16. There is no bf16 accumulator.
// d and c may be the same array.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: HMMA.1688.F32.BF16.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k8_row_col_f32_bf16_bf16_f32(float (&d)[4],
                                                                                   const uint32_t (&a)[2],
                                                                                   const uint32_t (&b)[1],
                                                                                   const float (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k8_row_col_f32_bf16_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%7, %8, %9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 d, a, b, c;
// PTX ISA 7.0, sm_80. SASS: HMMA.16816.F32.BF16.
template <class Dependent = void>
__device__ __forceinline__ void mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32(float (&d)[4],
                                                                                    const uint32_t (&a)[4],
                                                                                    const uint32_t (&b)[2],
                                                                                    const float (&c)[4]) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]));
}

}  // namespace tenon::ptx
