// What orders wgmma.mma_async: the fence before it, the groups, the wait. Included by wgmma.hpp.
//
// Fence and wait also take the registers that they are about. The compiler knows no asynchronous instruction:
// it may move what uses d across a wait that does not name d, or what initialises d behind the fence. ptxas
// then serialises the instructions and says so (notes C7510, C7514, C7515), which fails the build of this
// project.
#pragma once

#include "tenon/ptx/arch.hpp"
#include "tenon/ptx/opaque.hpp"

namespace tenon::ptx {

// wgmma.fence.sync.aligned;
// PTX ISA 8.0, sm_90a. SASS: WARPGROUP.ARRIVE.
// Orders what this warpgroup wrote to registers before the wgmma.mma_async that follow: needed before the
// first of them, and whenever d or A in registers was written since; not between several of one shape on the
// same d. (What was written to shared memory needs fence.proxy.async.)
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
// The wgmma.mma_async since the last one become a group, to be waited for.
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
// Waits until at most `pending` groups, the youngest, are unfinished: 0 to 7. done: registers of older
// groups, which may be used from here on.
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
