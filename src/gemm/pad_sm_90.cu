// The kernel of the padding copies for sm_90: its beginning overlaps the end of what runs before it, and its
// end the beginning of the product that waits for the copies.
#include "gemm/pad_kernel.cuh"

namespace tenon {
namespace pad {

extern "C" __global__ void __launch_bounds__(block_threads)
    tenon_pad_sm_90(const __grid_constant__ PadTasks tasks) {
  cudaTriggerProgrammaticLaunchCompletion();
  prefetch_rows(tasks);
  cudaGridDependencySynchronize();
  copy_rows(tasks);
}

}  // namespace pad

const void* pad_sm_90() noexcept {
  return reinterpret_cast<const void*>(&pad::tenon_pad_sm_90);
}

}  // namespace tenon
