// What the examples share: memory that both sides see, numbers to multiply, an exit status.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

// Leaves, as skipped, where there is no device of sm_80 (or of what is asked for) or newer.
inline void need_sm(int sm = 80) {
  int major = 0, minor = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0) == cudaSuccess &&
      10 * major + minor >= sm) {
    return;
  }
  std::printf("skipped: this example needs a GPU of sm_%d or newer\n", sm);
  std::exit(77);
}

// Device memory that the host may touch, with `count` integers of -2 .. 2: sums of products are exact.
template <class T>
T* integers(std::size_t count) {
  need_sm();
  T* data = nullptr;
  if (cudaMallocManaged(&data, count * sizeof(T)) != cudaSuccess) std::exit(1);
  for (std::size_t i = 0; i < count; ++i) {
    data[i] = static_cast<T>(static_cast<float>((i * 7 + i / 11) % 5) - 2.0F);
  }
  return data;
}

// Element (i, j) of a * b^T, for row-major a and b with rows of k elements.
template <class T>
float dot(const T* a, const T* b, int i, int j, int k) {
  float sum = 0.0F;
  for (int p = 0; p < k; ++p) sum += static_cast<float>(a[i * k + p]) * static_cast<float>(b[j * k + p]);
  return sum;
}

// Waits for the device; the exit status: 0 if right(i) for every i below count.
template <class Right>
int check(int count, Right right) {
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < count && error == cudaSuccess; ++i) wrong += right(i) ? 0 : 1;
  std::printf("%s, %d of %d elements are wrong\n", cudaGetErrorString(error), wrong, count);
  return error == cudaSuccess && wrong == 0 ? 0 : 1;
}
