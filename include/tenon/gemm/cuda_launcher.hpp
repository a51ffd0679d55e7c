// Launches (launch_plan.hpp) on a stream of the current CUDA device, header-only. Below:
// launch_plan.hpp, pipeline/make_tensor_map.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/pipeline/make_tensor_map.hpp"

namespace tenon {

// The current device. device_unsupported, with the reason, where there is none; cuda_error where it does not
// answer. Reads attributes only, which is safe while a stream is captured.
inline Status describe_cuda_device(DeviceDescription* device) noexcept {
  int ordinal = 0, count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  if (error == cudaSuccess) error = cudaGetDevice(&ordinal);
  if (error != cudaSuccess) {
    cudaGetLastError();  // reported here; the caller's next check shall not find it
    int driver = 0;
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
      return Status(StatusCode::device_unsupported, "no CUDA device: no NVIDIA driver is installed");
    return Status(StatusCode::device_unsupported, "no CUDA device: %s", cudaGetErrorString(error));
  }
  int major = 0, minor = 0, shared = 0, l2 = 0;
  const struct {
    int* value;
    cudaDeviceAttr attribute;
  } queries[] = {{&major, cudaDevAttrComputeCapabilityMajor},
                 {&minor, cudaDevAttrComputeCapabilityMinor},
                 {&device->multiprocessors, cudaDevAttrMultiProcessorCount},
                 {&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin},
                 {&l2, cudaDevAttrL2CacheSize}};
  for (const auto& query : queries) {
    error = cudaDeviceGetAttribute(query.value, query.attribute, ordinal);
    if (error != cudaSuccess) {
      cudaGetLastError();
      return Status(StatusCode::cuda_error, "an attribute of CUDA device %d cannot be read: %s", ordinal,
                    cudaGetErrorString(error));
    }
  }
  device->sm = 10 * major + minor;
  device->shared_bytes_per_block_optin = static_cast<std::size_t>(shared);
  device->l2_bytes = static_cast<std::size_t>(l2);
  return {};
}

// Whether an error says that the device does not run such a launch (its clusters, shared memory, registers or
// code): nothing was launched, and another kernel may be. All others are those of the stream, of the context,
// or of what ran before, and would come again.
inline bool refuses_launch(cudaError_t error) noexcept {
  switch (error) {
    case cudaErrorInvalidValue:  // more shared memory than a CTA may have
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidClusterSize:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorNotSupported:
      return true;
    default:
      return false;
  }
}

// The first launch of a kernel on a device loads its code. Loading is not a stream operation, and a stream
// capture that is not relaxed may forbid it: a thread-local capture in its own thread, a global one in every
// thread of the process. A launch is therefore relaxed while this exists. The launch itself is captured as
// usual.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // then the mode that the thread had before
};

// The status of a launch, or of what precedes it. Nothing was launched where it is not ok.
inline Status status_of_launch(const Launch& launch, cudaError_t error) noexcept {
  if (error == cudaSuccess) return {};
  cudaGetLastError();  // reported here; the caller's next check shall not find it
  if (refuses_launch(error)) {
    return Status(
        StatusCode::device_unsupported,
        "%s, of %u threads and %u bytes of dynamic shared memory a CTA, was refused by the device: %s",
        launch.what, launch.block.x * launch.block.y * launch.block.z, launch.shared_bytes,
        cudaGetErrorString(error));
  }
  return Status(StatusCode::cuda_error, "%s could not be launched: %s", launch.what,
                cudaGetErrorString(error));
}

// Lets the function of a launch, on the current device, have the shared memory that the launch asks for.
inline cudaError_t opt_in_to_shared_memory(const Launch& launch) noexcept {
  constexpr unsigned shared_by_default = 48U << 10;  // dynamic shared memory that needs no opt-in
  if (launch.shared_bytes <= shared_by_default) return cudaSuccess;
  return cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(launch.shared_bytes));
}

// Enqueues a launch whose function has opted in on the current device. cudaLaunchKernelExC rather than
// <<<>>>: it returns the error of this launch and leaves the caller's last error be.
inline cudaError_t enqueue(const Launch& launch, cudaStream_t stream) noexcept {
  void* arguments[LaunchArguments::most];
  for (int i = 0; i < launch.arguments.count(); ++i)
    arguments[i] = const_cast<void*>(launch.arguments.data(i));
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(launch.grid.x, launch.grid.y, launch.grid.z);
  config.blockDim = dim3(launch.block.x, launch.block.y, launch.block.z);
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = launch.overlaps_previous ? 1 : 0;
  return cudaLaunchKernelExC(&config, launch.function, arguments);
}

// Enqueues a launch whose function is a __global__ function.
inline Status launch_on_stream(const Launch& launch, cudaStream_t stream) noexcept {
  const RelaxedCapture relaxed;
  // Per device, and cheap: asked for at every launch rather than remembered.
  const cudaError_t error = opt_in_to_shared_memory(launch);
  return status_of_launch(launch, error == cudaSuccess ? enqueue(launch, stream) : error);
}

// A stream of the current device as a launcher.
class StreamLauncher final : public Launcher {
 public:
  explicit StreamLauncher(cudaStream_t stream) noexcept : stream_(stream) {}
  Status describe(DeviceDescription* device) noexcept override { return describe_cuda_device(device); }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    return tenon::make_tensor_map(matrix, box_rows, box_columns, map);
  }
  Status launch(const Launch& launch) noexcept override { return launch_on_stream(launch, stream_); }

 private:
  cudaStream_t stream_;
};

}  // namespace tenon
