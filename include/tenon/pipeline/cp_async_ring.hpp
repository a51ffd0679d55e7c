// A ring of stages filled by cp.async (sm_80): the copies of one stage are one group, and the CTA
// synchronises once a stage.
//
//   CpAsyncRing<4> ring;
//   for (int s = 0; s < 3; ++s) { /* cp.async into stage s */ ring.commit(); }  // Stages - 1 groups
//   ring.wait_oldest();                                       // stage 0 is there, for all of the CTA
//   for (...) {
//     /* cp.async into the stage freed last */ ring.commit();
//     /* read */
//     ring.wait_oldest();
//   }
//
// Commit once a turn even when nothing is left to copy: empty groups keep the count right (and cost nothing).
// Below: ptx/cp_async.hpp, stage.hpp.
#pragma once

#include "tenon/pipeline/stage.hpp"
#include "tenon/ptx/cp_async.hpp"

namespace tenon {

template <int Stages>
struct CpAsyncRing {
  static_assert(Stages >= 2, "CpAsyncRing: a ring needs 2 stages or more to copy one while another is read");

  __device__ __forceinline__ static void commit() { ptx::cp_async_commit_group(); }

  // After Stages - 1 commits are pending: the oldest stage is complete and visible to the whole block; and
  // every thread has finished what it read before, so the stage that was read last may be overwritten.
  __device__ __forceinline__ static void wait_oldest() {
    wait_oldest([] { __syncthreads(); });
  }
  // The same for a ring of some of the CTA's threads, which synchronise(): a warp, or warps at a barrier.
  template <class Synchronise>
  __device__ __forceinline__ static void wait_oldest(const Synchronise& synchronise) {
    ptx::cp_async_wait_group<Stages - 2>();
    synchronise();
  }

  // Before the CTA ends or reuses the memory.
  __device__ __forceinline__ static void drain() {
    ptx::cp_async_wait_group<0>();
    __syncthreads();
  }
};

}  // namespace tenon
