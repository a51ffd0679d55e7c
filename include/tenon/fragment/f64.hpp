// Fragments of f64: m8n8k4 (sm_80) and m16n8k4, m16n8k8, m16n8k16 (sm_90), accumulating in double, rounding
// to nearest. Load them with fill(). On sm_80 to 8.9 m16n8k8 is four m8n8k4
// and m16n8k16 eight, with the same result: all add one product after the other. Builds on registers.hpp and
// ptx/mma_f64.hpp, which has the other roundings.
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
    } else if constexpr (!ptx::sm_at_least<90, C> &&
                         (std::is_same_v<Shape, m16n8k8> || std::is_same_v<Shape, m16n8k16>)) {
      // Registers of A: [row g + 8 * (i % 2)][k t + 4 * (i / 2)], of B: [k t + 4 * i][column g], and C's
      // rows g and g + 8 two by two. Those of m8n8k4 are A[g][t], B[t][g] and two of C's row g.
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        double rows[2] = {c.reg[2 * half], c.reg[2 * half + 1]};
#pragma unroll
        for (int step = 0; step < Shape::k / 4; ++step) {
          const double a_part[1] = {a.reg[half + 2 * step]}, b_part[1] = {b.reg[step]};
          ptx::mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64(rows, a_part, b_part, rows);
        }
        c.reg[2 * half] = rows[0];
        c.reg[2 * half + 1] = rows[1];
      }
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
