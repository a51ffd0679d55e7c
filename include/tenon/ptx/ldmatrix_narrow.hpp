// Loads, by a warp, of matrices of 8-, 6- and 4-bit elements from shared memory, one element in each byte of
// the registers: the operands of mma_f8f6f4.hpp and mma_block_scale.hpp. From sm_100a on,
// architecture-specific targets only.
//
// A row in memory is 16 bytes, its address a multiple of 16: 16 elements of 8 bits, or 12 bytes of 6-bit
// elements and 4 of padding (b6x16_p32), or 8 bytes of 4-bit elements and 8 of padding (b4x16_p64). m8n16:
// lanes 8i..8i+7 supply the eight rows of matrix i, and lane l, with g = l / 4 and t = l % 4, receives in
// d[i] columns 4t to 4t + 3 of row g. m16n16, always transposed: lanes 16i..16i+15 supply the sixteen rows
// of matrix i, and d[2i], d[2i + 1] hold elements of rows g and g + 8 of the transposed matrix. A 6-bit
// element lies in bits 0-5 of its byte, a 4-bit one in bits 0-3. (PTX ISA, "Warp-level matrix load
// instruction: ldmatrix"; not executed by the tests, which have no such GPU.)
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.8.MT1616.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m16n16_x1_trans_shared_b8(uint32_t (&d)[2],
                                                                                uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x1_trans_shared_b8 needs sm_100a, sm_103a, "
                "sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x1_trans_shared_b8 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.8.MT1616.2.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m16n16_x2_trans_shared_b8(uint32_t (&d)[4],
                                                                                uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x2_trans_shared_b8 needs sm_100a, sm_103a, "
                "sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x2_trans_shared_b8 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.U6x16P32TO8.MT1616.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m16n16_x1_trans_shared_b8x16_b6x16_p32(
    uint32_t (&d)[2], uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x1_trans_shared_b8x16_b6x16_p32 needs sm_100a, "
                "sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x1_trans_shared_b8x16_b6x16_p32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.U6x16P32TO8.MT1616.2.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m16n16_x2_trans_shared_b8x16_b6x16_p32(
    uint32_t (&d)[4], uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x2_trans_shared_b8x16_b6x16_p32 needs sm_100a, "
                "sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x2_trans_shared_b8x16_b6x16_p32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b4x16_p64 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.U4x16P64TO8.MT1616.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m16n16_x1_trans_shared_b8x16_b4x16_p64(
    uint32_t (&d)[2], uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x1_trans_shared_b8x16_b4x16_p64 needs sm_100a, "
                "sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x1_trans_shared_b8x16_b4x16_p64 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b4x16_p64 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b4x16_p64 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.U4x16P64TO8.MT1616.2.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m16n16_x2_trans_shared_b8x16_b4x16_p64(
    uint32_t (&d)[4], uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x2_trans_shared_b8x16_b4x16_p64 needs sm_100a, "
                "sm_103a, sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m16n16_x2_trans_shared_b8x16_b4x16_p64 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b4x16_p64 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.U6x16P32TO8.M816.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n16_x1_shared_b8x16_b6x16_p32(uint32_t (&d)[1],
                                                                                      uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x1_shared_b8x16_b6x16_p32 needs sm_100a, sm_103a, "
                "sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x1_shared_b8x16_b6x16_p32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%0}, [%1];"
               : "=r"(d[0])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.U6x16P32TO8.M816.2.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n16_x2_shared_b8x16_b6x16_p32(uint32_t (&d)[2],
                                                                                      uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x2_shared_b8x16_b6x16_p32 needs sm_100a, sm_103a, "
                "sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x2_shared_b8x16_b6x16_p32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.U6x16P32TO8.M816.4.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n16_x4_shared_b8x16_b6x16_p32(uint32_t (&d)[4],
                                                                                      uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x4_shared_b8x16_b6x16_p32 needs sm_100a, sm_103a, "
                "sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x4_shared_b8x16_b6x16_p32 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.U4x16P64TO8.M816.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n16_x1_shared_b8x16_b4x16_p64(uint32_t (&d)[1],
                                                                                      uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x1_shared_b8x16_b4x16_p64 needs sm_100a, sm_103a, "
                "sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x1_shared_b8x16_b4x16_p64 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%0}, [%1];"
               : "=r"(d[0])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.U4x16P64TO8.M816.2.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n16_x2_shared_b8x16_b4x16_p64(uint32_t (&d)[2],
                                                                                      uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x2_shared_b8x16_b4x16_p64 needs sm_100a, sm_103a, "
                "sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x2_shared_b8x16_b4x16_p64 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 d, [address];
// PTX ISA 8.6, sm_100a. SASS: LDSM.U4x16P64TO8.M816.4.
template <class Dependent = void>
__device__ __forceinline__ void ldmatrix_sync_aligned_m8n16_x4_shared_b8x16_b4x16_p64(uint32_t (&d)[4],
                                                                                      uint32_t address) {
  static_assert(is_specific_target<Dependent, 100, 103, 110, 120, 121>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x4_shared_b8x16_b4x16_p64 needs sm_100a, sm_103a, "
                "sm_110a, sm_120a or sm_121a: "
                "compile with -gencode arch=compute_100a,code=sm_100a");
  static_assert(cuda_at_least<12, 8, Dependent>,
                "tenon::ptx::ldmatrix_sync_aligned_m8n16_x4_shared_b8x16_b4x16_p64 needs PTX ISA 8.6: "
                "compile with CUDA 12.8 or newer");
  asm volatile("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

}  // namespace tenon::ptx
