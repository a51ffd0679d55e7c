// The current CUDA device as a Device.
#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <utility>

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
  ~CudaDevice() override {
    if (pool_ != nullptr) cudaMemPoolDestroy(pool_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  // Keeps up to 1 GB of what was freed: cudaMalloc() and cudaFree() call the driver each time. Where there
  // are no pools they serve.
  void open_pool(int ordinal) noexcept {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, ordinal};
    std::uint64_t kept = std::uint64_t{1} << 30;
    if (cudaMemPoolCreate(&pool_, &properties) != cudaSuccess ||
        cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept) != cudaSuccess) {
      if (pool_ != nullptr) cudaMemPoolDestroy(pool_);
      pool_ = nullptr;
      cudaGetLastError();
    }
  }

  const char* kind() const noexcept override { return "cuda"; }
  std::string description() const override { return name_; }
  Launcher& launcher() noexcept override { return launcher_; }

  Status allocate(std::size_t bytes, void** memory) noexcept override {
    *memory = nullptr;
    if (bytes == 0) return {};
    cudaError_t error =
        pool_ != nullptr ? cudaMallocFromPoolAsync(memory, bytes, pool_, nullptr) : cudaMalloc(memory, bytes);
    if (error == cudaSuccess) error = cudaStreamSynchronize(nullptr);  // any stream may use it now
    if (error == cudaSuccess) return {};
    *memory = nullptr;
    cudaGetLastError();
    std::size_t free = 0;
    static_cast<void>(free_memory(&free));
    return Status(StatusCode::cuda_error, "%zu bytes of device memory are needed but %zu are free (%s)",
                  bytes, free, cudaGetErrorString(error));
  }
  void free(void* memory) noexcept override {
    if (memory == nullptr) return;
    // cudaFree() waits for what runs, also on streams that the null stream does not wait for.
    cudaDeviceSynchronize();
    pool_ != nullptr ? cudaFreeAsync(memory, nullptr) : cudaFree(memory);
  }

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
    cudaError_t error = cudaMemGetInfo(bytes, &total);
    std::uint64_t reserved = 0, used = 0;  // of the pool
    if (error == cudaSuccess && pool_ != nullptr) {
      error = cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved);
      if (error == cudaSuccess) error = cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used);
    }
    *bytes += static_cast<std::size_t>(reserved - used);
    return status_of(error, "the query of the device's memory");
  }

 private:
  std::string name_;
  CudaLauncher launcher_{nullptr};
  cudaMemPool_t pool_ = nullptr;
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
  auto opened = std::make_unique<CudaDevice>(properties.name);
  opened->open_pool(ordinal);
  *device = std::move(opened);
  return {};
}

}  // namespace tenon
