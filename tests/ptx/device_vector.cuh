// Host vectors through a kernel: device copies that free themselves, and errors as exceptions.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace tenon::test {

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

template <class T>
class DeviceVector {
 public:
  explicit DeviceVector(const std::vector<T>& source) : size_(source.size()) {
    check(cudaMalloc(&data_, bytes()));
    check(cudaMemcpy(data_, source.data(), bytes(), cudaMemcpyHostToDevice));
  }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;
  ~DeviceVector() { cudaFree(data_); }

  T* data() const { return static_cast<T*>(data_); }

  // What the kernels launched so far have left here.
  std::vector<T> read() const {
    std::vector<T> result(size_);
    check(cudaGetLastError());
    check(cudaMemcpy(result.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }
  std::size_t size_;
  void* data_ = nullptr;
};

}  // namespace tenon::test
