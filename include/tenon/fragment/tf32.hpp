// Fragments of tf32: m16n8k4 and m16n8k8, accumulating in float. for_each and fill round values to tf32.
// load() copies 32-bit words unchanged, and the tensor core truncates the 13 low bits of words that are not
// rounded. Builds on registers.hpp and ptx/mma_tf32.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/mma_tf32.hpp"

namespace tenon {

template <class Shape>
struct Mma<Shape, float, tf32, tf32> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k8>) {
      ptx::mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m16n8k4>,
                    "mma(a, b): tf32 operands multiply as m16n8k4 or m16n8k8");
      ptx::mma_sync_aligned_m16n8k4_row_col_f32_tf32_tf32_f32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

}  // namespace tenon
