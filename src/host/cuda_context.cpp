// cuCtxGetId(), through the runtime, so that programs need not link libcuda.
#include "host/cuda_context.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace tenon {

bool current_context(unsigned long long* number) noexcept {
  static const auto get = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuCtxGetId", &function, 12000, cudaEnableDefault, &found);
    const bool usable = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return reinterpret_cast<decltype(&cuCtxGetId)>(usable ? function : nullptr);
  }();
  return get != nullptr && get(nullptr, number) == CUDA_SUCCESS;
}

}  // namespace tenon
