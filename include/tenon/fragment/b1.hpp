// Fragments of b1: m8n8k128, m16n8k128 and m16n8k256, accumulating in int32_t. The product of two bits is
// their AND: mma adds popc(row & column). Builds on registers.hpp and ptx/mma_b1.hpp, which has the XOR forms
// (Hamming distances).
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/mma_b1.hpp"

namespace tenon {

template <class Shape>
struct Mma<Shape, std::int32_t, b1, b1> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k256>) {
      ptx::mma_sync_aligned_m16n8k256_row_col_s32_b1_b1_s32_and_popc(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k128>) {
      ptx::mma_sync_aligned_m16n8k128_row_col_s32_b1_b1_s32_and_popc(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m8n8k128>,
                    "mma(a, b): b1 operands multiply as m8n8k128, m16n8k128 or m16n8k256");
      ptx::mma_sync_aligned_m8n8k128_row_col_s32_b1_b1_s32_and_popc(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

}  // namespace tenon
