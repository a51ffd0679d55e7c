// Fragments of f16 and bf16: m16n8k8 and m16n8k16, accumulating in float, f16 also in f16 (__half). Builds on
// registers.hpp, ptx/mma_f16.hpp and ptx/mma_bf16.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/mma_bf16.hpp"
#include "tenon/ptx/mma_f16.hpp"

namespace tenon {

template <class Shape, class TC>
struct Mma<Shape, TC, __half, __half> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<TC, float> && std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<TC, float> && std::is_same_v<Shape, m16n8k8>) {
      ptx::mma_sync_aligned_m16n8k8_row_col_f32_f16_f16_f32(c.reg, a.reg, b.reg, c.reg);
    } else if constexpr (std::is_same_v<TC, __half> && std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<TC, __half> && std::is_same_v<Shape, m16n8k8>,
                    "mma(a, b): f16 operands accumulate in float or __half, as m16n8k8 or m16n8k16");
      ptx::mma_sync_aligned_m16n8k8_row_col_f16_f16_f16_f16(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

template <class Shape>
struct Mma<Shape, float, __nv_bfloat16, __nv_bfloat16> {
  template <class C, class A, class B>
  static __device__ __forceinline__ void issue(C& c, const A& a, const B& b) {
    if constexpr (std::is_same_v<Shape, m16n8k16>) {
      ptx::mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32(c.reg, a.reg, b.reg, c.reg);
    } else {
      static_assert(std::is_same_v<Shape, m16n8k8>,
                    "mma(a, b): bf16 operands multiply as m16n8k8 or m16n8k16");
      ptx::mma_sync_aligned_m16n8k8_row_col_f32_bf16_bf16_f32(c.reg, a.reg, b.reg, c.reg);
    }
  }
};

// Rounds the accumulators of two adjacent products (columns 0..7 and 8..15) to T and returns them as the
// A operand of the next product. The layouts agree, so no value changes lanes. This makes the P of softmax(Q
// K^T) V.
template <class T>
__device__ __forceinline__ FragmentA<m16n8k16, T> as_a(const Accumulator<m16n8k16, float>& left,
                                                       const Accumulator<m16n8k16, float>& right) {
  static_assert(Element<T>::bits == 16, "as_a: the operand must have 16 bits: others lie differently");
  FragmentA<m16n8k16, T> a;
#pragma unroll
  for (int i = 0; i < 2; ++i) {  // rows 0..7, rows 8..15
    a.reg[i] = Packing<T>::pack({left.reg[2 * i], left.reg[2 * i + 1]});
    a.reg[i + 2] = Packing<T>::pack({right.reg[2 * i], right.reg[2 * i + 1]});
  }
  return a;
}

}  // namespace tenon
