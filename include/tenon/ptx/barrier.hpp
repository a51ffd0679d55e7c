// The named barriers of a block: 16 of them, numbered from 0. __syncthreads() uses barrier 0.
//
// `threads` threads of the block, in whole warps, synchronise on a barrier. Each warp executes bar.sync or
// bar.arrive; bar.sync waits until all of them have arrived, bar.arrive does not wait. What any of them wrote
// before the barrier is visible to the threads that waited. The barrier can be used again at once (PTX ISA,
// "Parallel Synchronization and Communication Instructions: bar").
//
// `barrier` may be a variable. ptxas encodes a constant in the instruction.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// bar.sync barrier, threads;
// PTX ISA 6.3, sm_75. SASS: BAR.SYNC, from sm_80 on BAR.SYNC.DEFER_BLOCKING.
template <int threads, class Dependent = void>
__device__ __forceinline__ void bar_sync(int32_t barrier) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::bar_sync needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  static_assert(threads > 0 && threads <= 1024 && threads % 32 == 0,
                "bar_sync: threads must be a multiple of 32 from 32 to 1024");
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}

// bar.arrive barrier, threads;
// PTX ISA 6.3, sm_75. SASS: BAR.ARV.
template <int threads, class Dependent = void>
__device__ __forceinline__ void bar_arrive(int32_t barrier) {
  static_assert(sm_at_least<75, Dependent>,
                "tenon::ptx::bar_arrive needs sm_75 or newer: "
                "compile with -arch=sm_75 or above");
  static_assert(threads > 0 && threads <= 1024 && threads % 32 == 0,
                "bar_arrive: threads must be a multiple of 32 from 32 to 1024");
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}

}  // namespace tenon::ptx
