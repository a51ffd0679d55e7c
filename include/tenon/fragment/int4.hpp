// Fragments of s4 and u4, in any combination: m8n8k32, m16n8k32 and m16n8k64, accumulating in int32_t, which
// wraps. Native up to sm_89; emulated, slowly, from sm_90 on. Builds on registers.hpp and ptx/mma_int4.hpp,
// which has the saturating forms.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/mma_int4.hpp"

namespace tenon {

template <class Shape>
struct Mma<Shape, std::int32_t, s4, s4> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k64>) {
      ptx::mma_sync_aligned_m16n8k64_row_col_s32_s4_s4_s32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_s32_s4_s4_s32(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m8n8k32>,
                    "mma(a, b): s4 and u4 operands multiply as m8n8k32, m16n8k32 or m16n8k64");
      ptx::mma_sync_aligned_m8n8k32_row_col_s32_s4_s4_s32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <class Shape>
struct Mma<Shape, std::int32_t, s4, u4> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k64>) {
      ptx::mma_sync_aligned_m16n8k64_row_col_s32_s4_u4_s32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_s32_s4_u4_s32(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m8n8k32>,
                    "mma(a, b): s4 and u4 operands multiply as m8n8k32, m16n8k32 or m16n8k64");
      ptx::mma_sync_aligned_m8n8k32_row_col_s32_s4_u4_s32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <class Shape>
struct Mma<Shape, std::int32_t, u4, s4> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k64>) {
      ptx::mma_sync_aligned_m16n8k64_row_col_s32_u4_s4_s32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_s32_u4_s4_s32(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m8n8k32>,
                    "mma(a, b): s4 and u4 operands multiply as m8n8k32, m16n8k32 or m16n8k64");
      ptx::mma_sync_aligned_m8n8k32_row_col_s32_u4_s4_s32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <class Shape>
struct Mma<Shape, std::int32_t, u4, u4> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k64>) {
      ptx::mma_sync_aligned_m16n8k64_row_col_s32_u4_u4_s32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_s32_u4_u4_s32(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m8n8k32>,
                    "mma(a, b): s4 and u4 operands multiply as m8n8k32, m16n8k32 or m16n8k64");
      ptx::mma_sync_aligned_m8n8k32_row_col_s32_u4_u4_s32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

}  // namespace tenon
