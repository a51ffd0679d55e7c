// Programmatic dependent launch: the start of a grid overlaps the end of the grid before it on the stream.
// The functions are the toolkit's cudaTriggerProgrammaticLaunchCompletion() and
// cudaGridDependencySynchronize(), which NVRTC lacks (PTX ISA, "griddepcontrol").
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon::ptx {

// griddepcontrol.launch_dependents;
// PTX ISA 7.8, sm_90. SASS: PREEXIT.
// The next grid may begin once all CTAs of this one have executed this or ended. Orders no memory accesses.
template <class Dependent = void>
__device__ __forceinline__ void griddepcontrol_launch_dependents() {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::griddepcontrol_launch_dependents needs sm_90 or newer: compile with "
                "-arch=sm_90 or above");
  asm volatile("griddepcontrol.launch_dependents;");
}

// griddepcontrol.wait;
// PTX ISA 7.8, sm_90. SASS: ACQBULK.
// Waits until the grids before have ended and their writes are visible.
template <class Dependent = void>
__device__ __forceinline__ void griddepcontrol_wait() {
  static_assert(sm_at_least<90, Dependent>,
                "tenon::ptx::griddepcontrol_wait needs sm_90 or newer: compile with -arch=sm_90 or "
                "above");
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace tenon::ptx
