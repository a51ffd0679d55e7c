#include "microbench/foreign_kernel.hpp"

namespace tenon::microbench {
namespace {

__global__ void foreign_kernel(unsigned int* word) {
  if (threadIdx.x == 0) *word += 1;
}

}  // namespace

ForeignKernel::ForeignKernel() {
  require(cudaMemset(word_.reserve(sizeof(unsigned int)), 0, sizeof(unsigned int)),
          "preparing a foreign kernel");
  require(cudaDeviceSynchronize(), "preparing a foreign kernel");
}

Status ForeignKernel::enqueue(cudaStream_t stream) const {
  foreign_kernel<<<1, 32, 0, stream>>>(static_cast<unsigned int*>(word_.data()));
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return {};
  return {StatusCode::cuda_error, "launching a foreign kernel: %s", cudaGetErrorString(error)};
}

unsigned int ForeignKernel::launches() const {
  unsigned int count = 0;
  require(cudaMemcpy(&count, word_.data(), sizeof count, cudaMemcpyDeviceToHost),
          "reading a foreign kernel's word");
  return count;
}

}  // namespace tenon::microbench
