// Asynchronous copies of 4, 8 or 16 bytes per thread from global to shared memory, without registers.
//
// `destination` is a shared-window address (shared_address.hpp), `source` points to global memory; both must
// be multiples of the size copied. .ca caches in L1 and L2, .cg in L2 only; .L2::128B also prefetches the
// rest of the 128-byte line. The forms with source_bytes read only that many bytes (0 up to the size) and
// fill the rest with zeros. A thread sees its own copy after a wait; the block sees it after the wait and a
// barrier (PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy").
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// cp.async.ca.shared.global [destination], [source], 4;
// PTX ISA 7.0, sm_80. SASS: LDGSTS.E.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_ca_shared_global_4(uint32_t destination, const void* source) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_ca_shared_global_4 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(destination), "l"(source) : "memory");
}

// cp.async.ca.shared.global [destination], [source], 4, source_bytes;
// PTX ISA 7.0, sm_80. SASS: LDGSTS.E.ZFILL.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_ca_shared_global_4(uint32_t destination, const void* source,
                                                            uint32_t source_bytes) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_ca_shared_global_4 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(destination), "l"(source),
               "r"(source_bytes)
               : "memory");
}

// cp.async.ca.shared.global [destination], [source], 8;
// PTX ISA 7.0, sm_80. SASS: LDGSTS.E.64.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_ca_shared_global_8(uint32_t destination, const void* source) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_ca_shared_global_8 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(destination), "l"(source) : "memory");
}

// cp.async.ca.shared.global [destination], [source], 8, source_bytes;
// PTX ISA 7.0, sm_80. SASS: LDGSTS.E.64.ZFILL.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_ca_shared_global_8(uint32_t destination, const void* source,
                                                            uint32_t source_bytes) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_ca_shared_global_8 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(destination), "l"(source),
               "r"(source_bytes)
               : "memory");
}

// cp.async.ca.shared.global [destination], [source], 16;
// PTX ISA 7.0, sm_80. SASS: LDGSTS.E.128.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_ca_shared_global_16(uint32_t destination, const void* source) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_ca_shared_global_16 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(destination), "l"(source) : "memory");
}

// cp.async.ca.shared.global [destination], [source], 16, source_bytes;
// PTX ISA 7.0, sm_80. SASS: LDGSTS.E.128.ZFILL.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_ca_shared_global_16(uint32_t destination, const void* source,
                                                             uint32_t source_bytes) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_ca_shared_global_16 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(destination), "l"(source),
               "r"(source_bytes)
               : "memory");
}

// cp.async.cg.shared.global [destination], [source], 16;
// PTX ISA 7.0, sm_80. SASS: LDGSTS.E.BYPASS.128.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_cg_shared_global_16(uint32_t destination, const void* source) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_cg_shared_global_16 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(destination), "l"(source) : "memory");
}

// cp.async.cg.shared.global [destination], [source], 16, source_bytes;
// PTX ISA 7.0, sm_80. SASS: LDGSTS.E.BYPASS.128.ZFILL.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_cg_shared_global_16(uint32_t destination, const void* source,
                                                             uint32_t source_bytes) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_cg_shared_global_16 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(destination), "l"(source),
               "r"(source_bytes)
               : "memory");
}

// cp.async.cg.shared.global.L2::128B [destination], [source], 16;
// PTX ISA 7.4, sm_80. SASS: LDGSTS.E.BYPASS.LTC128B.128.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_cg_shared_global_L2_128B_16(uint32_t destination,
                                                                     const void* source) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_cg_shared_global_L2_128B_16 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(destination), "l"(source)
               : "memory");
}

// cp.async.cg.shared.global.L2::128B [destination], [source], 16, source_bytes;
// PTX ISA 7.4, sm_80. SASS: LDGSTS.E.BYPASS.LTC128B.128.ZFILL.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_cg_shared_global_L2_128B_16(uint32_t destination, const void* source,
                                                                     uint32_t source_bytes) {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_cg_shared_global_L2_128B_16 needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(destination), "l"(source),
               "r"(source_bytes)
               : "memory");
}

// cp.async.commit_group;
// PTX ISA 7.0, sm_80. SASS: LDGDEPBAR.
// Puts the copies that this thread issued since the last commit into a group, which may be empty.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_commit_group() {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_commit_group needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// cp.async.wait_group pending;
// PTX ISA 7.0, sm_80. SASS: DEPBAR.LE.
// Waits until at most `pending` groups of this thread, the youngest ones, are unfinished.
template <int pending, class Dependent = void>
__device__ __forceinline__ void cp_async_wait_group() {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_wait_group needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  static_assert(pending >= 0, "tenon::ptx::cp_async_wait_group needs a number of groups >= 0");
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// cp.async.wait_all;
// PTX ISA 7.0, sm_80. SASS: LDGDEPBAR, DEPBAR.LE.
// Waits for all copies of this thread, committed or not.
template <class Dependent = void>
__device__ __forceinline__ void cp_async_wait_all() {
  static_assert(sm_at_least<80, Dependent>,
                "tenon::ptx::cp_async_wait_all needs sm_80 or newer: "
                "compile with -arch=sm_80 or above");
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace tenon::ptx
