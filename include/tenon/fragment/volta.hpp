// Fragments of Volta's f16 m8n8k4: four independent 8x8x4 products per warp, each operand in either order,
// accumulating in float or f16 (__half). From sm_80 on no tensor core executes it: use it to run and study
// Volta kernels. Load with fill(); its row and col count within the product of the lane (LayoutA<m8n8k4,
// __half>::matrix_of(lane)). Builds on registers.hpp and ptx/mma_f16_m8n8k4.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/mma_f16_m8n8k4.hpp"

namespace tenon {

template <>
struct Mma<m8n8k4, float, __half, __half> {
  template <class C, Major order_a, Major order_b>
  static __device__ __forceinline__ void issue(C& c, const FragmentA<m8n8k4, __half, order_a>& a,
                                               const FragmentB<m8n8k4, __half, order_b>& b) {
    if constexpr (order_a == Major::row && order_b == Major::row) {
      ptx::mma_sync_aligned_m8n8k4_row_row_f32_f16_f16_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (order_a == Major::row && order_b == Major::column) {
      ptx::mma_sync_aligned_m8n8k4_row_col_f32_f16_f16_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (order_a == Major::column && order_b == Major::row) {
      ptx::mma_sync_aligned_m8n8k4_col_row_f32_f16_f16_f32(c.reg, a.reg, b.reg, c.reg);
    } else {
      ptx::mma_sync_aligned_m8n8k4_col_col_f32_f16_f16_f32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <>
struct Mma<m8n8k4, __half, __half, __half> {
  template <class C, Major order_a, Major order_b>
  static __device__ __forceinline__ void issue(C& c, const FragmentA<m8n8k4, __half, order_a>& a,
                                               const FragmentB<m8n8k4, __half, order_b>& b) {
    if constexpr (order_a == Major::row && order_b == Major::row) {
      ptx::mma_sync_aligned_m8n8k4_row_row_f16_f16_f16_f16(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (order_a == Major::row && order_b == Major::column) {
      ptx::mma_sync_aligned_m8n8k4_row_col_f16_f16_f16_f16(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (order_a == Major::column && order_b == Major::row) {
      ptx::mma_sync_aligned_m8n8k4_col_row_f16_f16_f16_f16(c.reg, a.reg, b.reg, c.reg);
    } else {
      ptx::mma_sync_aligned_m8n8k4_col_col_f16_f16_f16_f16(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

}  // namespace tenon
