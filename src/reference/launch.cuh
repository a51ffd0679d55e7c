// Launches a one-dimensional grid and returns the outcome as a Status.
//
// Grids are one-dimensional because only that dimension reaches 2^31 blocks; kernels compute their tile by
// division.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "tenon/status.hpp"

namespace tenon::reference {

__host__ __device__ constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t step) {
  return value / step + (value % step != 0);
}

// The error is the launch's own return value: cudaGetLastError() could report an earlier, unrelated one.
template <class... Parameters>
Status launch(void (*kernel)(Parameters...), std::int64_t blocks, dim3 threads, CUstream_st* stream,
              Parameters... arguments) {
  constexpr std::int64_t most_blocks = 0x7fffffff;
  if (blocks > most_blocks) {
    return {StatusCode::unsupported, "the problem needs %lld blocks but a grid holds %lld",
            static_cast<long long>(blocks), static_cast<long long>(most_blocks)};
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = threads;
  config.stream = stream;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
  switch (error) {
    case cudaSuccess:
      return {};
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return {StatusCode::device_unsupported,
              "the reference kernels need a CUDA device of sm_80 or newer: %s", cudaGetErrorString(error)};
    default:
      return {StatusCode::cuda_error, "the kernel launch failed: %s", cudaGetErrorString(error)};
  }
}

}  // namespace tenon::reference
