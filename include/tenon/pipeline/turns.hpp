// Warpgroups of a CTA that do something in turn: one after the other, again and again.
//
//   const Turns<2> turns(group);
//   while (...) {
//     turns.wait();  /* what one does at a time */  turns.pass();
//     /* what the others may do meanwhile */
//   }
//
// With a ring (tma_ring.hpp) whose stages are filled for the warpgroups in turn, no turn may begin before
// the one before has seen its last stage full: a barrier of the ring shows the parity of its lap and not the
// lap, so nobody may look at a stage more than a lap ahead. sm_75. Below: ptx/barrier.hpp.
#pragma once

#include "tenon/ptx/barrier.hpp"

namespace tenon {

// Of `Groups` warpgroups; 1: nobody waits. Takes the barriers 1 to Groups.
template <int Groups>
class Turns {
  static_assert(Groups >= 1 && Groups <= 15, "Turns: a CTA has the named barriers 1 to 15");

 public:
  // By all of each warpgroup, at the start. group: 0 to Groups - 1, in the order of their turns.
  __device__ __forceinline__ explicit Turns(int group) : group_(group) {
    if (Groups > 1 && group == Groups - 1) pass();
  }

  // By all of a warpgroup: until the one before has passed on the turn. What that did before is seen after.
  // The barrier counts the 128 threads of both.
  __device__ __forceinline__ void wait() const {
    if constexpr (Groups > 1) ptx::bar_sync<256>(1 + group_);
  }
  // By all of the warpgroup whose turn it is. The last turn of all is passed on to nobody, and ends with the
  // block.
  __device__ __forceinline__ void pass() const {
    if constexpr (Groups > 1) ptx::bar_arrive<256>(1 + (group_ + 1) % Groups);
  }

 private:
  int group_;
};

}  // namespace tenon
