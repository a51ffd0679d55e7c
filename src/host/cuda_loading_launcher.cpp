// The CUDA calls of cuda_loading_launcher.hpp.
#include "host/cuda_loading_launcher.hpp"

#include "host/cuda_context.hpp"
#include "tenon/gemm/cuda_launcher.hpp"

namespace tenon {

Status CudaLoadingLauncher::identify(DeviceIdentity* identity) noexcept {
  cudaError_t error = cudaGetDevice(&identity->device);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return Status(StatusCode::device_unsupported, "no CUDA device: %s", cudaGetErrorString(error));
  }
  if (current_context(&identity->context)) return {};
  // A thread has no context before it first uses the runtime, nor a device after it was reset.
  error = cudaSetDevice(identity->device);
  if (error == cudaSuccess && current_context(&identity->context)) return {};
  cudaGetLastError();
  return Status(StatusCode::cuda_error, "CUDA device %d has no context: %s", identity->device,
                error == cudaSuccess ? "the driver needs CUDA 12.0 or newer" : cudaGetErrorString(error));
}

Status CudaLoadingLauncher::load(const Launch& launch) noexcept {
  if (launch.function == nullptr) return {};  // the module's launches load it
  const RelaxedCapture relaxed;
  // Loads the function too, however little it asks for.
  return status_of_launch(launch,
                          cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               static_cast<int>(launch.shared_bytes)));
}

Status CudaLoadingLauncher::launch_loaded(const Launch& launch) noexcept {
  if (launch.function != nullptr) {
    if (enqueue(launch, stream_) == cudaSuccess) return {};
    cudaGetLastError();  // of a function that has opted for less since, or else said again below
  }
  return launcher_.launch(launch);
}

}  // namespace tenon
