// Launches (launch_plan.hpp) on a stream of the current CUDA device, header-only. Below:
// launch_plan.hpp, no_cuda_device.hpp, pipeline/make_tensor_map.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cuda_runtime_api.h>

#include <initializer_list>
#include <utility>

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm/no_cuda_device.hpp"
#include "tenon/pipeline/make_tensor_map.hpp"

namespace tenon {

// The current device. device_unsupported, with the reason, where there is none; cuda_error where it does not
// answer. Reads attributes only, which is safe while a stream is captured.
inline Status describe_cuda_device(DeviceDescription* device) noexcept {
  int ordinal = 0, count = 0;
  if (Status s = count_cuda_devices(&count); !s) return s;
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error != cudaSuccess) return no_cuda_device(error);
  int major = 0, minor = 0, shared = 0, l2 = 0;
  const std::pair<int*, cudaDeviceAttr> queries[] = {
      {&major, cudaDevAttrComputeCapabilityMajor},
      {&minor, cudaDevAttrComputeCapabilityMinor},
      {&device->multiprocessors, cudaDevAttrMultiProcessorCount},
      {&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin},
      {&l2, cudaDevAttrL2CacheSize}};
  for (const auto& [value, attribute] : queries) {
    error = cudaDeviceGetAttribute(value, attribute, ordinal);
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
  for (const cudaError_t refusal :
       {cudaErrorInvalidValue,  // more shared memory than a CTA may have
        cudaErrorInvalidConfiguration, cudaErrorInvalidClusterSize, cudaErrorLaunchOutOfResources,
        cudaErrorInvalidDeviceFunction, cudaErrorNoKernelImageForDevice, cudaErrorNotSupported}) {
    if (error == refusal) return true;
  }
  return false;
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

// Enqueues a launch whose function has opted in on the current device. cudaLaunchKernelExC rather than
// <<<>>>: it returns the error of this launch and leaves the caller's last error be.
inline cudaError_t enqueue(const Launch& launch, cudaStream_t stream) noexcept {
  void* arguments[LaunchArguments::most];
  for (int i = 0; i < launch.arguments.count(); ++i)
    arguments[i] = const_cast<void*>(launch.arguments.data(i));
  cudaLaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (launch.overlaps_previous) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (launch.cluster != 0) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {launch.cluster, 1, 1};
  }
  const dim3 grid(launch.grid.x, launch.grid.y, launch.grid.z);
  const dim3 block(launch.block.x, launch.block.y, launch.block.z);
  const cudaLaunchConfig_t config{grid, block, launch.shared_bytes, stream, attributes, count};
  return cudaLaunchKernelExC(&config, launch.function, arguments);
}

// Enqueues a launch whose function is a __global__ function.
inline Status launch_on_stream(const Launch& launch, cudaStream_t stream) noexcept {
  const RelaxedCapture relaxed;
  cudaError_t error = cudaSuccess;
  // More than 48 KB need an opt-in, and static shared memory counts: few kernels have more than 8 KB of that.
  // Per device, and cheap: asked for at every launch rather than remembered.
  if (launch.shared_bytes > 40U << 10) {
    error = cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(launch.shared_bytes));
  }
  if (error == cudaSuccess) error = enqueue(launch, stream);
  return status_of_launch(launch, error);
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
