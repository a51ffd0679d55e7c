// What fill_shared_memory() launches.
#include "gemm/fill_shared.hpp"

#include <cuda_runtime.h>

namespace tenon::test {
namespace {

__global__ void fill(int words) {
  extern __shared__ unsigned int memory[];
  volatile unsigned int* const to = memory;
  for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x)) to[i] = ~0U;
  // A CTA has all memory of its multiprocessor, and runs until every multiprocessor has got one.
  const long long begin = clock64();
  while (clock64() - begin < 20000) {
  }
}

}  // namespace

bool fill_shared_memory() {
  int device = 0, multiprocessors = 0, bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess ||
      cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess)
    return false;
  fill<<<multiprocessors, 256, static_cast<std::size_t>(bytes)>>>(bytes / 4);
  return cudaDeviceSynchronize() == cudaSuccess;
}

}  // namespace tenon::test
