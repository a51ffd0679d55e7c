// What orders wgmma.mma_async: the fence before it, the groups, and the wait. Included by wgmma.hpp.
//
// The fence and the wait also take the registers that they concern. The compiler does not know that
// wgmma.mma_async is asynchronous. It may move a use of d across a wait that does not name d, or the
// initialisation of d past the fence. ptxas then serialises the instructions and says so (notes C7510, C7514,
// C7515), which fails the build of this project.
#pragma once

#include "tenon/ptx/arch.hpp"
#include "tenon/ptx/opaque.hpp"

namespace tenon::ptx {

// wgmma.fence.sync.aligned;
// PTX ISA 8.0, sm_90a. SASS: WARPGROUP.ARRIVE.
// Orders this warpgroup's writes to registers before the wgmma.mma_async that follow. Needed before the first
// of them, and after every write to d or to A in registers. Not needed between instructions of one shape on
// the same d. (Writes to shared memory need fence.proxy.async.)
template <class Dependent = void, class... Registers>
__device__ __forceinline__ void wgmma_fence_sync_aligned(Registers&... written) {
  static_assert(is_sm_90a<Dependent>,
                "tenon::ptx::wgmma_fence_sync_aligned needs sm_90a: "
                "compile with -gencode arch=compute_90a,code=sm_90a "
                "(-arch=sm_90a compiles for compute_90, too)");
  (hold(written), ...);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// wgmma.commit_group.sync.aligned;
// PTX ISA 8.0, sm_90a. SASS: none of its own.
// Puts the wgmma.mma_async issued since the last commit into a group.
template <class Dependent = void>
__device__ __forceinline__ void wgmma_commit_group_sync_aligned() {
  static_assert(is_sm_90a<Dependent>,
                "tenon::ptx::wgmma_commit_group_sync_aligned needs sm_90a: "
                "compile with -gencode arch=compute_90a,code=sm_90a "
                "(-arch=sm_90a compiles for compute_90, too)");
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// wgmma.wait_group.sync.aligned pending;
// PTX ISA 8.0, sm_90a. SASS: WARPGROUP.DEPBAR.LE.
// Waits until at most `pending` groups, the youngest ones, are unfinished: 0 to 7. done: registers of the
// older groups, which may be used after the call.
template <int pending, class Dependent = void, class... Registers>
__device__ __forceinline__ void wgmma_wait_group_sync_aligned(Registers&... done) {
  static_assert(is_sm_90a<Dependent>,
                "tenon::ptx::wgmma_wait_group_sync_aligned needs sm_90a: "
                "compile with -gencode arch=compute_90a,code=sm_90a "
                "(-arch=sm_90a compiles for compute_90, too)");
  static_assert(pending >= 0 && pending <= 7, "wgmma_wait_group: pending must be 0 to 7");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
  (hold(done), ...);
}

}  // namespace tenon::ptx
