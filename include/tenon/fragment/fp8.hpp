// Fragments of fp8, e4m3 and e5m2 in any combination: m16n8k16 and m16n8k32, accumulating in float or f16
// (__half); sm_89. sm_90 emulates them with f16 products; its native fp8 is wgmma. Builds on registers.hpp
// and ptx/mma_fp8.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/mma_fp8.hpp"

namespace tenon {

template <class Shape, class TC>
struct Mma<Shape, TC, e4m3, e4m3> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<TC, float> && std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e4m3_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<TC, float> && std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_f32_e4m3_e4m3_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<TC, __half> && std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_f16_e4m3_e4m3_f16(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<TC, __half> && std::is_same_v<Shape, m16n8k16>,
                    "mma(a, b): fp8 operands accumulate in float or __half, as m16n8k16 or m16n8k32");
      ptx::mma_sync_aligned_m16n8k16_row_col_f16_e4m3_e4m3_f16(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <class Shape, class TC>
struct Mma<Shape, TC, e4m3, e5m2> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<TC, float> && std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e5m2_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<TC, float> && std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_f32_e4m3_e5m2_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<TC, __half> && std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_f16_e4m3_e5m2_f16(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<TC, __half> && std::is_same_v<Shape, m16n8k16>,
                    "mma(a, b): fp8 operands accumulate in float or __half, as m16n8k16 or m16n8k32");
      ptx::mma_sync_aligned_m16n8k16_row_col_f16_e4m3_e5m2_f16(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <class Shape, class TC>
struct Mma<Shape, TC, e5m2, e4m3> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<TC, float> && std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_f32_e5m2_e4m3_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<TC, float> && std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_f32_e5m2_e4m3_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<TC, __half> && std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_f16_e5m2_e4m3_f16(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<TC, __half> && std::is_same_v<Shape, m16n8k16>,
                    "mma(a, b): fp8 operands accumulate in float or __half, as m16n8k16 or m16n8k32");
      ptx::mma_sync_aligned_m16n8k16_row_col_f16_e5m2_e4m3_f16(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <class Shape, class TC>
struct Mma<Shape, TC, e5m2, e5m2> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<TC, float> && std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_f32_e5m2_e5m2_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<TC, float> && std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_f32_e5m2_e5m2_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<TC, __half> && std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_f16_e5m2_e5m2_f16(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<TC, __half> && std::is_same_v<Shape, m16n8k16>,
                    "mma(a, b): fp8 operands accumulate in float or __half, as m16n8k16 or m16n8k32");
      ptx::mma_sync_aligned_m16n8k16_row_col_f16_e5m2_e5m2_f16(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

}  // namespace tenon
