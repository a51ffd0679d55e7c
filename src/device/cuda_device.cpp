// The current CUDA device as a Device.
#include <cuda_runtime.h>

#include "device/device.hpp"
#include "host/cuda_launcher.hpp"
#include "host/device.hpp"

namespace tenon {
namespace {

Status status_of(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();  // reported here, so the next check must not find it
  return Status(StatusCode::cuda_error, "%s failed: %s", what, cudaGetErrorString(error));
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const char* name) : name_(name) {}

  const char* kind() const noexcept override { return "cuda"; }
  std::string description() const override { return name_; }
  Launcher& launcher() noexcept override { return launcher_; }

  Status allocate(std::size_t bytes, void** memory) noexcept override {
    *memory = nullptr;
    if (bytes == 0) return {};
    const cudaError_t error = cudaMalloc(memory, bytes);
    if (error == cudaSuccess) return {};
    *memory = nullptr;
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    return Status(StatusCode::cuda_error, "%zu bytes of device memory are needed but %zu are free (%s)",
                  bytes, free, cudaGetErrorString(error));
  }
  void free(void* memory) noexcept override { cudaFree(memory); }

  Status upload(void* to, const void* from, std::size_t bytes) noexcept override {
    if (bytes == 0) return {};
    cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    // A copy from pageable memory may still be in flight.
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    return status_of(error, "the copy to the device");
  }
  Status download(void* to, const void* from, std::size_t bytes) noexcept override {
    if (bytes == 0) return {};
    return status_of(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "the copy from the device");
  }
  Status synchronize() noexcept override {
    return status_of(cudaDeviceSynchronize(), "what ran on the device");
  }
  Status free_memory(std::size_t* bytes) noexcept override {
    std::size_t total = 0;
    return status_of(cudaMemGetInfo(bytes, &total), "the query of the device's memory");
  }

 private:
  std::string name_;
  CudaLauncher launcher_{nullptr};
};

}  // namespace

Status open_cuda_device(std::unique_ptr<Device>* device) {
  DeviceDescription description;
  if (Status s = describe_current_device(&description); !s) return s;
  int ordinal = 0;
  cudaDeviceProp properties{};
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, ordinal);
  if (Status s = status_of(error, "the query of the device"); !s) return s;
  *device = std::make_unique<CudaDevice>(properties.name);
  return {};
}

}  // namespace tenon
