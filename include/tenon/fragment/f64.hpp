// Fragments of f64: m8n8k4 (sm_80) and m16n8k4, m16n8k8, m16n8k16 (sm_90), accumulating in double, rounding
// to nearest. Load them with fill(). Builds on registers.hpp and ptx/mma_f64.hpp, which has the other
// roundings.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/mma_f64.hpp"

namespace tenon {

template <class Shape>
struct Mma<Shape, double, double, double> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m8n8k4>) {
      ptx::mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k4>) {
      ptx::mma_sync_aligned_m16n8k4_row_col_f64_f64_f64_f64(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k8>) {
      ptx::mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m16n8k16>,
                    "mma(a, b): f64 operands multiply as m8n8k4, m16n8k4, m16n8k8 or m16n8k16");
      ptx::mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

}  // namespace tenon
