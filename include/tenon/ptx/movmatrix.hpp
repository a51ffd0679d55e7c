// The transpose of an 8 x 8 matrix of 16-bit elements, from registers to registers, across a warp.
//
// Lane l, with g = l / 4 and t = l % 4, gives row g, columns 2t (low half) and 2t + 1, and receives rows 2t
// (low half) and 2t + 1 of column g (PTX ISA, "Warp-level matrix transpose instruction: movmatrix").
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// movmatrix.sync.aligned.m8n8.trans.b16 d, a;
// PTX ISA 7.8, sm_75. SASS: MOVM.16.MT88.
template <class Dependent = void>
__device__ __forceinline__ uint32_t movmatrix_sync_aligned_m8n8_trans_b16(uint32_t a) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::movmatrix_sync_aligned_m8n8_trans_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  uint32_t d;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(a));
  return d;
}

}  // namespace tenon::ptx
