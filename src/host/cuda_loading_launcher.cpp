// The CUDA calls of cuda_loading_launcher.hpp.
#include "host/cuda_loading_launcher.hpp"

#include <cuda.h>

#include "tenon/gemm/cuda_launcher.hpp"

namespace tenon {
namespace {

// cuCtxGetId() of the current context, through the runtime, so that programs need not link libcuda.
CUresult get_context_number(unsigned long long* number) noexcept {
  static const auto get = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuCtxGetId", &function, 12000, cudaEnableDefault, &found);
    const bool usable = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return reinterpret_cast<decltype(&cuCtxGetId)>(usable ? function : nullptr);
  }();
  return get == nullptr ? CUDA_ERROR_NOT_FOUND : get(nullptr, number);
}

}  // namespace

Status CudaLoadingLauncher::identify(DeviceIdentity* identity) noexcept {
  cudaError_t error = cudaGetDevice(&identity->device);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return Status(StatusCode::device_unsupported, "no CUDA device: %s", cudaGetErrorString(error));
  }
  if (get_context_number(&identity->context) == CUDA_SUCCESS) return {};
  // A thread has no context before it first uses the runtime, nor a device after it was reset.
  error = cudaSetDevice(identity->device);
  if (error == cudaSuccess && get_context_number(&identity->context) == CUDA_SUCCESS) return {};
  cudaGetLastError();
  return Status(StatusCode::cuda_error, "CUDA device %d has no context: %s", identity->device,
                error == cudaSuccess ? "the driver needs CUDA 12.0 or newer" : cudaGetErrorString(error));
}

Status CudaLoadingLauncher::load(const Launch& launch) noexcept {
  if (launch.function == nullptr) return {};  // the module's launches load it
  const RelaxedCapture relaxed;
  cudaFuncAttributes attributes;
  cudaError_t error = cudaFuncGetAttributes(&attributes, launch.function);
  if (error == cudaSuccess) error = opt_in_to_shared_memory(launch);
  return status_of_launch(launch, error);
}

Status CudaLoadingLauncher::launch_loaded(const Launch& launch) noexcept {
  if (launch.function == nullptr) return launcher_.launch(launch);
  return status_of_launch(launch, enqueue(launch, stream_));
}

}  // namespace tenon
