// The launches of cuda_launcher.hpp. They use cudaLaunchKernelExC rather than <<<>>>, because it returns the
// error of this launch and keeps an earlier error of the caller.
#include "host/cuda_launcher.hpp"

#include <cuda_runtime.h>

#include "gemm/module/module.hpp"
#include "host/device.hpp"
#include "tenon/pipeline/make_tensor_map.hpp"

namespace tenon {
namespace {

// The dynamic shared memory of a CTA that needs no attribute.
constexpr unsigned shared_by_default = 48U << 10;

dim3 dim3_of(const Extent3& extent) noexcept {
  return {extent.x, extent.y, extent.z};
}

// The first launch of a kernel on a device loads its code. Loading is not a stream operation, and a stream
// capture that is not relaxed may forbid it: a thread-local capture in its own thread, a global one in every
// thread of the process. launch() is therefore relaxed until it returns. The launch itself is captured as
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

// Whether an error says that the device cannot run this launch (its clusters, shared memory, registers or
// code). Nothing was launched then, and another kernel may run. Other errors are those of the stream, of the
// context, or of earlier work: any further launch would return them again.
bool refuses_launch(cudaError_t error) noexcept {
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

}  // namespace

Status CudaLauncher::describe(DeviceDescription* device) noexcept {
  return describe_current_device(device);
}

Status CudaLauncher::make_tensor_map(const MatrixInMemory& matrix, int box_lines, int box_columns,
                                     TensorMap* map) noexcept {
  return tenon::make_tensor_map(matrix, box_lines, box_columns, map);
}

Status CudaLauncher::launch(const Launch& launch) noexcept {
  const RelaxedCapture relaxed;
  if (launch.function == nullptr) return launch_module(launch, stream_);
  cudaError_t error = cudaSuccess;
  // The attribute is one of the current device, and setting it is cheap: so it is set at every launch, and
  // nothing has to be remembered for each device.
  if (launch.shared_bytes > shared_by_default) {
    error = cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(launch.shared_bytes));
  }
  if (error == cudaSuccess) {
    void* arguments[LaunchArguments::most];
    for (int i = 0; i < launch.arguments.count(); ++i) {
      arguments[i] = const_cast<void*>(launch.arguments.data(i));
    }
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3_of(launch.grid);
    config.blockDim = dim3_of(launch.block);
    config.dynamicSmemBytes = launch.shared_bytes;
    config.stream = stream_;
    config.attrs = &overlap;
    config.numAttrs = launch.overlaps_previous ? 1 : 0;
    error = cudaLaunchKernelExC(&config, launch.function, arguments);
  }
  if (error == cudaSuccess) return {};
  cudaGetLastError();  // clears it: the returned status reports this error
  if (refuses_launch(error)) {
    return Status(
        StatusCode::device_unsupported,
        "%s, of %u threads and %u bytes of dynamic shared memory a block, was refused by the device: %s",
        launch.what, launch.block.x * launch.block.y * launch.block.z, launch.shared_bytes,
        cudaGetErrorString(error));
  }
  return Status(StatusCode::cuda_error, "%s could not be launched: %s", launch.what,
                cudaGetErrorString(error));
}

}  // namespace tenon
