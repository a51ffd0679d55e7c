// The queries of device.hpp.
#include "host/device.hpp"

#include <cstdint>
#include <utility>

#include "tenon/gemm/cuda_launcher.hpp"

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

namespace {

// Of the memory of a device, in a clock of its multiprocessors; 0 if it does not say.
int memory_bytes_per_clock(int device) noexcept {
  int memory_khz = 0, bus_bits = 0, khz = 0;
  const std::pair<int*, cudaDeviceAttr> queries[] = {{&memory_khz, cudaDevAttrMemoryClockRate},
                                                     {&bus_bits, cudaDevAttrGlobalMemoryBusWidth},
                                                     {&khz, cudaDevAttrClockRate}};
  for (const auto& [value, attribute] : queries) {
    if (cudaDeviceGetAttribute(value, attribute, device) == cudaSuccess && *value > 0) continue;
    cudaGetLastError();
    return 0;
  }
  // Two transfers a clock of the memory.
  return static_cast<int>(std::int64_t{2} * memory_khz * bus_bits / 8 / khz);
}

}  // namespace

Status describe_current_device(DeviceDescription* device) noexcept {
  // Nothing of a device changes, but a thread may make another one current at any time.
  thread_local struct {
    int number = -1;
    DeviceDescription description;
  } last;
  int number = 0;
  if (cudaGetDevice(&number) != cudaSuccess) {
    cudaGetLastError();  // said again below
  } else if (number == last.number) {
    *device = last.description;
    return {};
  }
  if (Status s = describe_cuda_device(device); !s) return s;
  if (!has_code_for(device->sm)) {
    return Status(
        StatusCode::device_unsupported,
        "the CUDA device is sm_%d but this build holds code for sm %s: rebuild with TENON_ARCHITECTURES=%d",
        device->sm, built_architectures(), device->sm);
  }
  device->memory_bytes_per_clock = memory_bytes_per_clock(number);
  last.number = number;
  last.description = *device;
  return {};
}

}  // namespace tenon
