// The queries of device.hpp. They read attributes only, which the driver answers from its own memory.
#include "host/device.hpp"

#include <cuda_runtime.h>

namespace tenon {

// TENON_BUILT_FOR comes from the build (TENON_ARCHITECTURES): "80 86 89 90".
const char* built_architectures() noexcept {
  return TENON_BUILT_FOR;
}

bool runs_code_for(const char* architectures, int sm) noexcept {
  int built = 0;
  for (const char* p = architectures;; ++p) {
    if (*p >= '0' && *p <= '9') {
      built = 10 * built + (*p - '0');
      continue;
    }
    if (built != 0 && built / 10 == sm / 10 && built <= sm) return true;
    built = 0;
    if (*p == '\0') return false;
  }
}

bool has_code_for(int sm) noexcept {
  return runs_code_for(built_architectures(), sm);
}

Status describe_current_device(DeviceDescription* device) noexcept {
  int ordinal = 0, count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  if (error == cudaSuccess) error = cudaGetDevice(&ordinal);
  if (error != cudaSuccess) {
    cudaGetLastError();  // clears it: the returned status reports this error
    int driver = 0;
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) {
      return Status(StatusCode::device_unsupported, "no CUDA device: no NVIDIA driver is installed");
    }
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
  if (!has_code_for(device->sm)) {
    return Status(
        StatusCode::device_unsupported,
        "CUDA device %d is sm_%d but this build holds code for sm %s: rebuild with TENON_ARCHITECTURES=%d",
        ordinal, device->sm, built_architectures(), device->sm);
  }
  return {};
}

}  // namespace tenon
