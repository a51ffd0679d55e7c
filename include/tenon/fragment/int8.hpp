// Fragments of s8 (int8_t) and u8 (uint8_t), in any combination: m8n8k16, m16n8k16 and m16n8k32, accumulating
// in int32_t, which wraps. Builds on registers.hpp and ptx/mma_int8.hpp, which has the saturating forms
// (.satfinite).
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/mma_int8.hpp"

namespace tenon {

template <class Shape>
struct Mma<Shape, std::int32_t, std::int8_t, std::int8_t> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_s32_s8_s8_s32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_s32_s8_s8_s32(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m8n8k16>,
                    "mma(a, b): s8 and u8 operands multiply as m8n8k16, m16n8k16 or m16n8k32");
      ptx::mma_sync_aligned_m8n8k16_row_col_s32_s8_s8_s32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <class Shape>
struct Mma<Shape, std::int32_t, std::int8_t, std::uint8_t> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_s32_s8_u8_s32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_s32_s8_u8_s32(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m8n8k16>,
                    "mma(a, b): s8 and u8 operands multiply as m8n8k16, m16n8k16 or m16n8k32");
      ptx::mma_sync_aligned_m8n8k16_row_col_s32_s8_u8_s32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <class Shape>
struct Mma<Shape, std::int32_t, std::uint8_t, std::int8_t> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_s32_u8_s8_s32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_s32_u8_s8_s32(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m8n8k16>,
                    "mma(a, b): s8 and u8 operands multiply as m8n8k16, m16n8k16 or m16n8k32");
      ptx::mma_sync_aligned_m8n8k16_row_col_s32_u8_s8_s32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <class Shape>
struct Mma<Shape, std::int32_t, std::uint8_t, std::uint8_t> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k32>) {
      ptx::mma_sync_aligned_m16n8k32_row_col_s32_u8_u8_s32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_s32_u8_u8_s32(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m8n8k16>,
                    "mma(a, b): s8 and u8 operands multiply as m8n8k16, m16n8k16 or m16n8k32");
      ptx::mma_sync_aligned_m8n8k16_row_col_s32_u8_u8_s32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

}  // namespace tenon
