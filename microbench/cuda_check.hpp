// CUDA errors as Failure; device memory as RAII.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "microbench/cases.hpp"

namespace tenon::microbench {

inline void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw Failure(std::string(what) + ": " + cudaGetErrorString(error));
}

// Grows and never shrinks, so that one buffer serves every shape of a run.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  DeviceBuffer(DeviceBuffer&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
    other.bytes_ = 0;
  }
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  // The contents are lost when the buffer grows.
  void* reserve(std::size_t bytes) {
    if (bytes > bytes_) {
      require(cudaFree(data_), "freeing device memory");
      data_ = nullptr;
      bytes_ = 0;
      require(cudaMalloc(&data_, bytes), "allocating device memory");
      bytes_ = bytes;
    }
    return data_;
  }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tenon::microbench
