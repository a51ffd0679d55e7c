// Programmatic dependent launch for kernels that are compiled for sm_80 as well: on sm_90 the beginning of a
// grid overlaps the end of what runs before it on the stream (Launch::overlaps_previous); older architectures
// have no such launch, and here nothing to do. Below: ptx/griddepcontrol.hpp.
//
// Kernels of one's own take part with the two calls below (tests/examples/overlap_sm90.cu). A grid begins
// early if it is launched with the attribute cudaLaunchAttributeProgrammaticStreamSerialization, and if every
// CTA of the grid before it has called let_next_grid_begin(), or has ended. A grid before it that never calls
// that overlaps nothing.
#pragma once

#include "tenon/ptx/griddepcontrol.hpp"

namespace tenon {

// From now on the next grid may begin, as far as the multiprocessors have room for it. That says nothing of
// what this grid has written: the next one waits for its end, however early this is called.
__device__ __forceinline__ void let_next_grid_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  ptx::griddepcontrol_launch_dependents();
#endif
}

// Before the first access to what earlier kernels write, or still read and this one writes: waits for the end
// of the grid before, and for its writes. A grid that was launched with the attribute must call this, even if
// it touches nothing of earlier kernels: the next grid waits for this one only, and takes its end for that of
// all before.
__device__ __forceinline__ void wait_for_previous_grid() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  ptx::griddepcontrol_wait();
#endif
}

}  // namespace tenon
