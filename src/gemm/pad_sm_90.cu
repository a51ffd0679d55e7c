// The kernels of the padding copies for sm_90: their beginning overlaps the end of what runs before them, and
// their end the beginning of the product that waits for the copies.
#include "gemm/transpose_kernel.cuh"

namespace tenon {
namespace pad {

extern "C" __global__ void __launch_bounds__(block_threads)
    tenon_pad_sm_90(const __grid_constant__ PadTasks tasks) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  copy_rows(tasks);
}

extern "C" __global__ void __launch_bounds__(transpose::block_threads)
    tenon_transpose_2_sm_90(const __grid_constant__ transpose::Task task) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  transpose::copy_halves(task);
}

}  // namespace pad

const void* pad_sm_90() noexcept {
  return reinterpret_cast<const void*>(&pad::tenon_pad_sm_90);
}

const void* transpose_2_sm_90() noexcept {
  return reinterpret_cast<const void*>(&pad::tenon_transpose_2_sm_90);
}

}  // namespace tenon
