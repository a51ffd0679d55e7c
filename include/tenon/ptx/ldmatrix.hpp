// Loads, by a warp, of 8 x 8 matrices of 16-bit elements from shared memory into the registers of mma
// operands.
//
// Matrix i is read from eight rows of 16 bytes whose addresses lanes 8i..8i+7 supply; each must be a multiple
// of 16. The addresses of the lanes beyond the last matrix are ignored. Lane l, with g = l / 4 and t = l % 4,
// receives in d[i]
//   plain:   row g, columns 2t (low half) and 2t + 1 of matrix i
//   .trans:  rows 2t (low half) and 2t + 1, column g: the same for the transposed matrix
// (PTX ISA, "Warp-level matrix load instruction: ldmatrix"). Addresses: shared_address.hpp.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// ldmatrix.sync.aligned.m8n8.x1.shared.b16 d, [address];
// PTX ISA 6.5, sm_75. SASS: LDSM.16.M88.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n8_x1_shared_b16(uint32_t (&d)[1], uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n8_x1_shared_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(address) : "memory");
}

// ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 d, [address];
// PTX ISA 6.5, sm_75. SASS: LDSM.16.MT88.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n8_x1_trans_shared_b16(uint32_t (&d)[1],
                                                                               uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n8_x1_trans_shared_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(d[0])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n8.x2.shared.b16 d, [address];
// PTX ISA 6.5, sm_75. SASS: LDSM.16.M88.2.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n8_x2_shared_b16(uint32_t (&d)[2], uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n8_x2_shared_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 d, [address];
// PTX ISA 6.5, sm_75. SASS: LDSM.16.MT88.2.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n8_x2_trans_shared_b16(uint32_t (&d)[2],
                                                                               uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n8_x2_trans_shared_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n8.x4.shared.b16 d, [address];
// PTX ISA 6.5, sm_75. SASS: LDSM.16.M88.4.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n8_x4_shared_b16(uint32_t (&d)[4], uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n8_x4_shared_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 d, [address];
// PTX ISA 6.5, sm_75. SASS: LDSM.16.MT88.4.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n8_x4_trans_shared_b16(uint32_t (&d)[4],
                                                                               uint32_t address) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n8_x4_trans_shared_b16 needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

}  // namespace tenon::ptx
