// The sentences about a missing CUDA device: from errors and versions, and from the runtime with a stub of
// the driver (stub_driver.cpp), whether or not the machine has one.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tenon/gemm/cuda_launcher.hpp"
#include "tenon/gemm/no_cuda_device.hpp"

namespace tenon {
namespace {

std::string sentence(cudaError_t error, int driver, int runtime) {
  const Status s = no_cuda_device(error, driver, runtime);
  EXPECT_EQ(s.code(), StatusCode::device_unsupported);
  return s.message();
}

TEST(NoCudaDevice, an_old_driver_is_named_with_the_one_that_is_needed) {
  EXPECT_EQ(
      sentence(cudaErrorInsufficientDriver, 12040, 13000),
      "no CUDA device: the NVIDIA driver is for CUDA 12.4, but the runtime of this program (CUDA 13.0) needs "
      "a "
      "driver for 13.0 or newer. Install one, or compile tenon's headers with CUDA 12; tenon's emulator runs "
      "the kernels without a GPU");
  // Any driver of the major version does.
  EXPECT_NE(sentence(cudaErrorInsufficientDriver, 12090, 13050)
                .find("(CUDA 13.5) needs a driver for 13.0 or newer"),
            std::string::npos);
  // The headers need CUDA 12.4.
  EXPECT_NE(sentence(cudaErrorInsufficientDriver, 11080, 12040)
                .find("is for CUDA 11.8, but the runtime of this program (CUDA 12.4) needs a driver for 12.0 "
                      "or newer. "
                      "Install one; tenon's emulator"),
            std::string::npos);
  // It never asks for what is there.
  EXPECT_NE(sentence(cudaErrorInsufficientDriver, 13000, 13020)
                .find("is for CUDA 13.0, but the runtime of this program (CUDA 13.2) needs a driver for 13.2 "
                      "or newer"),
            std::string::npos);
}

// The runtime calls that insufficient, too.
TEST(NoCudaDevice, a_missing_driver_is_not_called_old) {
  for (const cudaError_t error : {cudaErrorInsufficientDriver, cudaErrorNoDevice})
    EXPECT_EQ(
        sentence(error, 0, 13010),
        "no CUDA device: no NVIDIA driver is installed, or a container hides it; this program needs one for "
        "CUDA 13.0 or newer. tenon's emulator runs the kernels without a GPU");
}

TEST(NoCudaDevice, a_missing_gpu_is_not_the_fault_of_the_driver) {
  EXPECT_EQ(sentence(cudaErrorNoDevice, 13000, 13000),
            "no CUDA device: the NVIDIA driver (for CUDA 13.0) shows this process no GPU. nvidia-smi lists "
            "those that "
            "it has; CUDA_VISIBLE_DEVICES may hide them. tenon's emulator runs the kernels without a GPU");
}

TEST(NoCudaDevice, other_errors_keep_their_text) {
  EXPECT_EQ(sentence(cudaErrorSystemNotReady, 13000, 13020),
            std::string("no CUDA device: ") + cudaGetErrorString(cudaErrorSystemNotReady) +
                " (driver for CUDA 13.0, runtime of CUDA 13.2)");
}

TEST(NoCudaDevice, every_sentence_is_whole) {
  for (const cudaError_t error :
       {cudaErrorInsufficientDriver, cudaErrorNoDevice, cudaErrorSystemDriverMismatch,
        cudaErrorCompatNotSupportedOnDevice, cudaErrorUnknown}) {
    for (const int driver : {0, 11080, 12090, 13120})
      EXPECT_LT(sentence(error, driver, 13120).size(), 255U) << driver;
  }
}

// The runtime of this process with that driver: what a launcher says. In a process of its own, which ends.
[[noreturn]] void describe_with(int version, int error) {
  ::setenv("STUB_DRIVER_VERSION", std::to_string(version).c_str(), 1);
  ::setenv("STUB_DRIVER_ERROR", std::to_string(error).c_str(), 1);
  // The runtime opens libcuda.so.1: the name that this library has.
  if (::dlopen(STUB_DRIVER, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    std::exit(2);
  }
  DeviceDescription device;
  const Status s = describe_cuda_device(&device);
  std::fprintf(stderr, "%s\n", s.message());
  std::exit(s.code() == StatusCode::device_unsupported ? 0 : 1);
}

TEST(NoCudaDevice, the_runtime_and_an_old_driver_give_these_errors) {
  GTEST_FLAG_SET(death_test_style,
                 "threadsafe");  // from the start: here the runtime may have sought its driver
  constexpr int major = CUDART_VERSION / 1000, old = 1000 * (major - 1) + 40;
  const auto exits = ::testing::ExitedWithCode(0);
  EXPECT_EXIT(describe_with(old, 0), exits,
              "driver is for CUDA " + std::to_string(major - 1) + "\\.4, .* needs a driver for " +
                  std::to_string(major) + "\\.0 or newer");
  EXPECT_EXIT(describe_with(CUDART_VERSION, 100), exits, "shows this process no GPU");
  EXPECT_EXIT(describe_with(CUDART_VERSION, 802), exits, "runtime of CUDA " + std::to_string(major));
}

}  // namespace
}  // namespace tenon
