// The CUDA calls of cuda_loading_launcher.hpp.
#include "host/cuda_loading_launcher.hpp"

#include <cuda.h>

#include <cstdint>
#include <cstring>

#include "host/cuda_context.hpp"
#include "tenon/gemm/cuda_launcher.hpp"

namespace tenon {
namespace {

// The handles of the kernels that this thread launched last: the runtime finds a kernel by its symbol in
// every launch, the driver has it by its handle.
struct KnownKernel {
  const void* function = nullptr;
  unsigned long long context = 0;
  cudaFunction_t handle = nullptr;
};
thread_local KnownKernel known_kernels[64];

// nullptr if it cannot be had.
cudaFunction_t handle_of(const void* function, unsigned long long context) noexcept {
  KnownKernel& known =
      known_kernels[(reinterpret_cast<std::uintptr_t>(function) * 0x9E3779B97F4A7C15U) >> 58U];
  if (known.function == function && known.context == context) return known.handle;
  const RelaxedCapture relaxed;
  cudaFunction_t handle = nullptr;
  if (cudaGetFuncBySymbol(&handle, function) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  known = {function, context, handle};
  return handle;
}

// Enqueues a launch of a kernel that has opted in to its shared memory.
bool enqueue_by_handle(const Launch& launch, cudaFunction_t handle, CUstream_st* stream) noexcept {
  static const auto launch_kernel = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &function, 12000, cudaEnableDefault, &found);
    const bool usable = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return reinterpret_cast<decltype(&cuLaunchKernelEx)>(usable ? function : nullptr);
  }();
  if (launch_kernel == nullptr) return false;
  void* arguments[LaunchArguments::most];
  for (int i = 0; i < launch.arguments.count(); ++i)
    arguments[i] = const_cast<void*>(launch.arguments.data(i));
  CUlaunchAttribute attributes[2] = {};
  CUlaunchConfig config{};
  config.attrs = attributes;
  if (launch.overlaps_previous) {
    CUlaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  if (launch.cluster != 0) {
    CUlaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {launch.cluster, 1, 1};
  }
  config.gridDimX = launch.grid.x, config.gridDimY = launch.grid.y, config.gridDimZ = launch.grid.z;
  config.blockDimX = launch.block.x, config.blockDimY = launch.block.y, config.blockDimZ = launch.block.z;
  config.sharedMemBytes = launch.shared_bytes;
  config.hStream = stream;
  return launch_kernel(&config, handle, arguments, nullptr) == CUDA_SUCCESS;
}

}  // namespace

Status CudaLoadingLauncher::identify(DeviceIdentity* identity) noexcept {
  context_ = 0;
  cudaError_t error = cudaGetDevice(&identity->device);
  if (error != cudaSuccess) return no_cuda_device(error);
  bool is_known = current_context(&identity->context);
  if (!is_known) {
    // A thread has no context before it first uses the runtime, nor a device after it was reset.
    error = cudaSetDevice(identity->device);
    is_known = error == cudaSuccess && current_context(&identity->context);
  }
  if (is_known) {
    context_ = identity->context;
    return {};
  }
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
    if (context_ != 0) {
      const cudaFunction_t handle = handle_of(launch.function, context_);
      if (handle != nullptr && enqueue_by_handle(launch, handle, stream_)) return {};
    }
    if (enqueue(launch, stream_) == cudaSuccess) return {};
    cudaGetLastError();  // of a function that has opted for less since, or else said again below
  }
  return launcher_.launch(launch);
}

Status CudaLoadingLauncher::replace_address(const void* data, TensorMap* map) noexcept {
  static const auto replace = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapReplaceAddress", &function, 12000,
                                                               cudaEnableDefault, &found);
    const bool usable = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return reinterpret_cast<decltype(&cuTensorMapReplaceAddress)>(usable ? function : nullptr);
  }();
  if (replace == nullptr)
    return Status(StatusCode::device_unsupported,
                  "the driver has no cuTensorMapReplaceAddress: it needs CUDA 12.0 or newer");
  CUtensorMap replaced;
  std::memcpy(&replaced, map, sizeof replaced);
  const CUresult result = replace(&replaced, const_cast<void*>(data));
  if (result != CUDA_SUCCESS)
    return Status(StatusCode::device_unsupported,
                  "cuTensorMapReplaceAddress refused (error %d) the address %p", static_cast<int>(result),
                  data);
  std::memcpy(map, &replaced, sizeof replaced);
  return {};
}

}  // namespace tenon
