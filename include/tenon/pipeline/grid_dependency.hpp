// Programmatic dependent launch for kernels that are compiled for sm_80 as well: on sm_90 the beginning of a
// grid overlaps the end of what runs before it on the stream (Launch::overlaps_previous); older architectures
// have no such launch, and here nothing to do. Below: ptx/arch.hpp.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon {

// From now on the next grid may begin, as far as the multiprocessors have room for it.
__device__ __forceinline__ void let_next_grid_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Before the first access to what earlier kernels write, or still read and this one writes.
__device__ __forceinline__ void wait_for_previous_grid() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

}  // namespace tenon
