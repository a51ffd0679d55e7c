// Whether this machine can run the GPU half (L4) of a test, and what the test says when it cannot.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace tenon::test {

// Compute capability of device 0 as 10 * major + minor; 0 without a usable device.
inline int gpu_sm() {
  static const int sm = [] {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return 0;
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    return 10 * major + minor;
  }();
  return sm;
}

// Base of every GPU test: skipped with one sentence where there is no device of at least sm_80.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu_sm() < 80) GTEST_SKIP() << "needs a GPU of sm_80 or newer";
  }
  void TearDown() override {
    if (gpu_sm() >= 80) {
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    }
  }
};

}  // namespace tenon::test
