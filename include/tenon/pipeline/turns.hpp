// Lets the warpgroups of a CTA do something one at a time, in a fixed cyclic order.
//
//   const Turns<2> turns(group);
//   while (...) {
//     turns.wait();  /* one warpgroup at a time */  turns.pass();
//     /* all warpgroups at once */
//   }
//
// If the warpgroups share a ring (tma_ring.hpp), a turn must not end before its warpgroup has seen its last
// stage full. A barrier of the ring shows only the parity of its phase, so a warpgroup must not test a stage
// that is more than one lap ahead. sm_75. Below: ptx/barrier.hpp.
#pragma once

#include "tenon/ptx/barrier.hpp"

namespace tenon {

// Groups: the number of warpgroups; with 1 none waits. Uses the named barriers 1 to Groups.
template <int Groups>
class Turns {
  static_assert(Groups >= 1 && Groups <= 15, "Turns: a CTA has the named barriers 1 to 15");

 public:
  // By all of each warpgroup, at the start. group: 0 to Groups - 1, in the order of their turns.
  __device__ __forceinline__ explicit Turns(int group) : group_(group) {
    if (Groups > 1 && group == Groups - 1) pass();
  }

  // By all of a warpgroup: waits until the warpgroup before passes the turn, and then sees that one's writes.
  // The barrier counts the 128 threads of each.
  __device__ __forceinline__ void wait() const {
    if constexpr (Groups > 1) ptx::bar_sync<256>(1 + group_);
  }
  // By all of the warpgroup whose turn it is. After the very last turn no warpgroup waits for the barrier.
  __device__ __forceinline__ void pass() const {
    if constexpr (Groups > 1) ptx::bar_arrive<256>(1 + (group_ + 1) % Groups);
  }

 private:
  int group_;
};

}  // namespace tenon
