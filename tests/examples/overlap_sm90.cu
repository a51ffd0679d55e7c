// A kernel between two products on Hopper, whose beginning overlaps the end of the product in front of it,
// and whose end the beginning of the next one.
#include <cuda_fp16.h>

#include "tenon/pipeline/grid_dependency.hpp"

__global__ void relu(half* y, int count) {
  tenon::let_next_grid_begin();  // now: the next product waits itself before it reads y
  const auto first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  tenon::wait_for_previous_grid();  // before the first access to what the product in front writes
  for (int i = first; i < count; i += static_cast<int>(gridDim.x * blockDim.x)) {
    y[i] = __float2half(fmaxf(__half2float(y[i]), 0.0F));
  }
}

// Without the attribute it would begin after the product in front, and the first line would still have
// effect.
cudaError_t launch_relu(half* y, int count, cudaStream_t stream) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 64, config.blockDim = 256, config.stream = stream;
  config.attrs = &overlap, config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, relu, y, count);
}
