#include "microbench/machine.hpp"

#include <cuda_runtime.h>

#include "microbench/cuda_check.hpp"

namespace tenon::microbench {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

Machine describe_machine(int device) {
  cudaDeviceProp properties{};
  int driver = 0;
  require(cudaGetDeviceProperties(&properties, device), "querying the device");
  require(cudaDriverGetVersion(&driver), "querying the driver");
  return {properties.name,
          "CUDA " + version_text(CUDART_VERSION) + ", driver for CUDA " + version_text(driver)};
}

}  // namespace tenon::microbench
