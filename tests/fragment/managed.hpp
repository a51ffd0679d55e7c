// Memory that both a test and its kernel read and write.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>

namespace tenon::test {

template <class T>
class Managed {
 public:
  Managed(std::size_t size, T value) : size_(size) {
    if (cudaMallocManaged(&data_, size * sizeof(T)) != cudaSuccess)
      throw std::runtime_error("cudaMallocManaged failed");
    for (std::size_t i = 0; i < size; ++i) data_[i] = value;
  }
  ~Managed() { cudaFree(data_); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  T* data() { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Waits for the kernels launched so far; false, with the reason in the test's log, if one of them failed.
inline ::testing::AssertionResult finished() {
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error == cudaSuccess) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << cudaGetErrorString(error);
}

}  // namespace tenon::test
