// Stores, by a warp, of 8 x 8 matrices of 16-bit elements to shared memory: the inverse of ldmatrix.hpp.
//
// Matrix i goes to eight rows of 16 bytes whose addresses lanes 8i..8i+7 supply; each must be a multiple
// of 16. The addresses of the lanes beyond the last matrix are ignored. Lane l, with g = l / 4 and t = l % 4,
// gives in s[i]
//   plain:   row g, columns 2t (low half) and 2t + 1 of matrix i
//   .trans:  rows 2t (low half) and 2t + 1, column g: the same for the transposed matrix
//
// m16n8, elements of 8 bits, always transposed, from sm_100a on, architecture-specific targets alone: lanes
// 8i..8i+7 supply the eight rows of 16 bytes of matrix i, one for each column, and byte j of s[i] is element
// j of the lane's accumulator fragment of m16n8. (Not executed by the tests, which have no such GPU.) (PTX
// ISA, "Warp-level matrix store instruction: stmatrix"). Addresses: shared_address.hpp.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// stmatrix.sync.aligned.m8n8.x1.shared.b16 [address], s;
// PTX ISA 7.8, sm_90. SASS: STSM.16.M88.
template <class Dependent = void>
__device__ __forceinline__ void stmatrix_sync_aligned_m8n8_x1_shared_b16(uint32_t address,
                                                                         const uint32_t (&s)[1]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::stmatrix_sync_aligned_m8n8_x1_shared_b16 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(address), "r"(s[0]) : "memory");
}

// stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [address], s;
// PTX ISA 7.8, sm_90. SASS: STSM.16.MT88.
template <class Dependent = void>
__device__ __forceinline__ void stmatrix_sync_aligned_m8n8_x1_trans_shared_b16(uint32_t address,
                                                                               const uint32_t (&s)[1]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::stmatrix_sync_aligned_m8n8_x1_trans_shared_b16 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(address), "r"(s[0])
               : "memory");
}

// stmatrix.sync.aligned.m8n8.x2.shared.b16 [address], s;
// PTX ISA 7.8, sm_90. SASS: STSM.16.M88.2.
template <class Dependent = void>
__device__ __forceinline__ void stmatrix_sync_aligned_m8n8_x2_shared_b16(uint32_t address,
                                                                         const uint32_t (&s)[2]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::stmatrix_sync_aligned_m8n8_x2_shared_b16 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(s[0]), "r"(s[1])
               : "memory");
}

// stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [address], s;
// PTX ISA 7.8, sm_90. SASS: STSM.16.MT88.2.
template <class Dependent = void>
__device__ __forceinline__ void stmatrix_sync_aligned_m8n8_x2_trans_shared_b16(uint32_t address,
                                                                               const uint32_t (&s)[2]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::stmatrix_sync_aligned_m8n8_x2_trans_shared_b16 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(s[0]),
               "r"(s[1])
               : "memory");
}

// stmatrix.sync.aligned.m8n8.x4.shared.b16 [address], s;
// PTX ISA 7.8, sm_90. SASS: STSM.16.M88.4.
template <class Dependent = void>
__device__ __forceinline__ void stmatrix_sync_aligned_m8n8_x4_shared_b16(uint32_t address,
                                                                         const uint32_t (&s)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::stmatrix_sync_aligned_m8n8_x4_shared_b16 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(s[0]),
               "r"(s[1]), "r"(s[2]), "r"(s[3])
               : "memory");
}

// stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [address], s;
// PTX ISA 7.8, sm_90. SASS: STSM.16.MT88.4.
template <class Dependent = void>
__device__ __forceinline__ void stmatrix_sync_aligned_m8n8_x4_trans_shared_b16(uint32_t address,
                                                                               const uint32_t (&s)[4]) {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::stmatrix_sync_aligned_m8n8_x4_trans_shared_b16 needs sm_90 or newer: "
                "compile with -arch=sm_90 or above");
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(s[0]), "r"(s[1]), "r"(s[2]), "r"(s[3])
               : "memory");
}

// stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [address], s;
// PTX ISA 8.6, sm_100a. SASS: STSM.8.MT168.
template <class Dependent = void>
__device__ __forceinline__ void stmatrix_sync_aligned_m16n8_x1_trans_shared_b8(uint32_t address,
                                                                               const uint32_t (&s)[1]) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::stmatrix_sync_aligned_m16n8_x1_trans_shared_b8 needs sm_100a, sm_103a, sm_110a, "
                "sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::stmatrix_sync_aligned_m16n8_x1_trans_shared_b8 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%0], {%1};"
               :
               : "r"(address), "r"(s[0])
               : "memory");
}

// stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [address], s;
// PTX ISA 8.6, sm_100a. SASS: STSM.8.MT168.2.
template <class Dependent = void>
__device__ __forceinline__ void stmatrix_sync_aligned_m16n8_x2_trans_shared_b8(uint32_t address,
                                                                               const uint32_t (&s)[2]) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::stmatrix_sync_aligned_m16n8_x2_trans_shared_b8 needs sm_100a, sm_103a, sm_110a, "
                "sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::stmatrix_sync_aligned_m16n8_x2_trans_shared_b8 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%0], {%1, %2};"
               :
               : "r"(address), "r"(s[0]), "r"(s[1])
               : "memory");
}

// stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [address], s;
// PTX ISA 8.6, sm_100a. SASS: STSM.8.MT168.4.
template <class Dependent = void>
__device__ __forceinline__ void stmatrix_sync_aligned_m16n8_x4_trans_shared_b8(uint32_t address,
                                                                               const uint32_t (&s)[4]) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::stmatrix_sync_aligned_m16n8_x4_trans_shared_b8 needs sm_100a, sm_103a, sm_110a, "
                "sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::stmatrix_sync_aligned_m16n8_x4_trans_shared_b8 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%0], {%1, %2, %3, %4};"
               :
               : "r"(address), "r"(s[0]), "r"(s[1]), "r"(s[2]), "r"(s[3])
               : "memory");
}

}  // namespace tenon::ptx
