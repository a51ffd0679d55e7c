// Why a process has no CUDA device, and what to do about it: the one place that says so. Below: status.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cuda_runtime_api.h>

#include "tenon/status.hpp"

namespace tenon {

// The status for an error of cudaGetDeviceCount() or cudaGetDevice(). `driver` and `runtime` are versions as
// cudaDriverGetVersion() and cudaRuntimeGetVersion() give them: 12040 is the driver of CUDA 12.4, 0 is none.
// A runtime works with every driver of its major version and later ones (CUDA Compatibility, minor version
// compatibility), so a driver that is too old is one for an earlier major version.
inline Status no_cuda_device(cudaError_t error, int driver, int runtime) noexcept {
  const int needed = driver / 1000 < runtime / 1000 ? runtime / 1000 * 1000 : runtime;
  const auto major = [](int version) { return version / 1000; };
  const auto minor = [](int version) { return version % 1000 / 10; };
  if (driver == 0) {
    return Status(
        StatusCode::device_unsupported,
        "no CUDA device: no NVIDIA driver is installed, or a container hides it; this program needs one "
        "for CUDA %d.%d or newer. tenon's emulator runs the kernels without a GPU",
        major(needed), minor(needed));
  }
  if (error == cudaErrorInsufficientDriver) {
    // With an older toolkit only the headers compile, from 12.4 on: the compiled library needs 13.0.
    const char* const older = major(driver) == 12 ? ", or compile tenon's headers with CUDA 12" : "";
    return Status(
        StatusCode::device_unsupported,
        "no CUDA device: the NVIDIA driver is for CUDA %d.%d, but the runtime of this program (CUDA %d.%d) "
        "needs a driver for %d.%d or newer. Install one%s; tenon's emulator runs the kernels without a GPU",
        major(driver), minor(driver), major(runtime), minor(runtime), major(needed), minor(needed), older);
  }
  if (error == cudaErrorNoDevice) {
    return Status(
        StatusCode::device_unsupported,
        "no CUDA device: the NVIDIA driver (for CUDA %d.%d) shows this process no GPU. nvidia-smi lists "
        "those that it has; CUDA_VISIBLE_DEVICES may hide them. tenon's emulator runs the kernels without "
        "a GPU",
        major(driver), minor(driver));
  }
  return Status(StatusCode::device_unsupported,
                "no CUDA device: %s (driver for CUDA %d.%d, runtime of CUDA %d.%d)",
                cudaGetErrorString(error), major(driver), minor(driver), major(runtime), minor(runtime));
}

// The same for the driver and the runtime of this process. Takes the error, so that the caller's next check
// does not find it.
inline Status no_cuda_device(cudaError_t error) noexcept {
  cudaGetLastError();
  int driver = 0, runtime = CUDART_VERSION;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaGetLastError();
  return no_cuda_device(error, driver, runtime);
}

// How many devices there are: at least one, or the status says why none.
inline Status count_cuda_devices(int* count) noexcept {
  *count = 0;
  const cudaError_t error = cudaGetDeviceCount(count);
  if (error == cudaSuccess && *count > 0) return {};
  *count = 0;
  return no_cuda_device(error == cudaSuccess ? cudaErrorNoDevice : error);
}

}  // namespace tenon
