// The emulator as a device: it reports what a kernel does wrong, and refuses with a sentence what it cannot
// do.
#include "device/device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "host/device.hpp"
#include "host/gemm_on.hpp"

namespace tenon {
namespace {

using emulator::FindingKind;

std::string message_of(const Status& status) {
  return status.message();
}

// A device per test; the test ends at once if the PTX of the kernels is missing.
class EmulatorDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const Status status = open_emulator_device(&device);
    ASSERT_TRUE(status) << status.message();
  }
  std::unique_ptr<Device> device;
};

// A "tn" product of f16 zeros, with separate memory for each operand.
struct Product {
  Product(Device* device, std::int64_t size, const char* kernel, std::size_t bytes_of_a_less = 0)
      : device(device) {
    problem.m = problem.n = problem.k = size;
    const auto bytes = static_cast<std::size_t>(2 * size * size);
    problem.a = {memory(bytes - bytes_of_a_less), size, row_major, Type::f16};
    problem.b = {memory(bytes), size, column_major, Type::f16};
    problem.c = {memory(2 * bytes), size, Type::f32};
    problem.kernel = kernel;
  }
  void* memory(std::size_t bytes) {
    void* data = nullptr;
    EXPECT_TRUE(device->allocate(bytes, &data));
    EXPECT_TRUE(device->upload(data, std::vector<char>(bytes).data(), bytes));
    return data;
  }
  std::vector<LaunchReport> run() {
    const Status status = gemm(device->launcher(), problem);
    EXPECT_TRUE(status) << status.message();
    return device->take_reports();
  }
  Device* device;
  Gemm problem;
};

constexpr const char* small_kernel = "cp_async_f16_f32_tn_64x64x64_s5";

TEST_F(EmulatorDevice, ReportsEachLaunchOnce) {
  Product product(device.get(), 64, small_kernel);
  const std::vector<LaunchReport> reports = product.run();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].what, small_kernel);
  EXPECT_TRUE(reports[0].result.findings.empty());
  EXPECT_EQ(reports[0].result.counters.total.matrix_operations, 64U * 64 * 64 / (16 * 8 * 16));
  EXPECT_TRUE(product.device->take_reports().empty());
}

TEST_F(EmulatorDevice, FindsAReadBeyondAnOperand) {
  Product product(device.get(), 64, small_kernel, 2);  // A is an element short
  const std::vector<LaunchReport> reports = product.run();
  ASSERT_EQ(reports.size(), 1U);
  ASSERT_FALSE(reports[0].result.findings.empty());
  EXPECT_EQ(reports[0].result.findings[0].kind, FindingKind::out_of_bounds);
  EXPECT_GT(reports[0].result.findings[0].ptx_line, 0);
}

TEST_F(EmulatorDevice, FindsTheUseOfFreedMemory) {
  Product product(device.get(), 64, small_kernel);
  product.device->free(const_cast<void*>(product.problem.b.data));
  const std::vector<LaunchReport> reports = product.run();
  ASSERT_EQ(reports.size(), 1U);
  ASSERT_FALSE(reports[0].result.findings.empty());
  EXPECT_EQ(reports[0].result.findings[0].kind, FindingKind::freed);
}

TEST_F(EmulatorDevice, FindsUnwrittenNumbers) {
  Product product(device.get(), 64, small_kernel);
  void* unwritten = nullptr;
  ASSERT_TRUE(product.device->allocate(64 * 64 * 2, &unwritten));
  product.problem.a.data = unwritten;
  const std::vector<LaunchReport> reports = product.run();
  ASSERT_EQ(reports.size(), 1U);
  ASSERT_FALSE(reports[0].result.findings.empty());
  EXPECT_EQ(reports[0].result.findings[0].kind, FindingKind::uninitialized);
}

TEST_F(EmulatorDevice, RunsEveryKernelOfTheList) {
  DeviceDescription description;
  ASSERT_TRUE(device->launcher().describe(&description));
  for (const Kernel& kernel : kernels()) {
    EXPECT_TRUE(kernel.exact_sm ? description.sm == kernel.minimum_sm : description.sm >= kernel.minimum_sm)
        << kernel.name;
    EXPECT_LE(kernel.shared_bytes, description.shared_bytes_per_block_optin) << kernel.name;
  }
  EXPECT_EQ(description.multiprocessors, emulated_multiprocessors);
}

TEST_F(EmulatorDevice, KeepsCopiesWithinTheirMemory) {
  void* memory = nullptr;
  ASSERT_TRUE(device->allocate(100, &memory));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
  std::vector<char> bytes(101, 7);
  EXPECT_TRUE(device->upload(memory, bytes.data(), 100));
  EXPECT_FALSE(device->upload(memory, bytes.data(), 101));
  EXPECT_FALSE(device->download(bytes.data(), memory, 101));
  EXPECT_NE(message_of(device->upload(memory, bytes.data(), 101)).find("an allocation of 100 bytes"),
            std::string::npos);
  void* nothing = memory;
  EXPECT_TRUE(device->allocate(0, &nothing));
  EXPECT_EQ(nothing, nullptr);
  EXPECT_TRUE(device->upload(nothing, nullptr, 0));
  device->free(nothing);
}

TEST(EmulatorDeviceWithoutPtx, SaysWhereThePtxIsMissing) {
  ASSERT_EQ(setenv("TENON_PTX_PATH", "/nowhere", 1), 0);
  std::unique_ptr<Device> device;
  const Status status = open_emulator_device(&device);
  ASSERT_EQ(unsetenv("TENON_PTX_PATH"), 0);
  EXPECT_EQ(status.code(), StatusCode::device_unsupported);
  EXPECT_EQ(message_of(status),
            "TENON_PTX_PATH is '/nowhere' but that folder does not hold the PTX of the kernels (pad.ptx)");
  EXPECT_EQ(device, nullptr);
}

TEST(CudaDevice, SaysWhyThereIsNone) {
  DeviceDescription description;
  if (describe_current_device(&description)) GTEST_SKIP() << "this machine has a GPU";
  std::unique_ptr<Device> device;
  const Status status = open_cuda_device(&device);
  EXPECT_EQ(status.code(), StatusCode::device_unsupported);
  EXPECT_EQ(message_of(status).substr(0, 16), "no CUDA device: ");
}

}  // namespace
}  // namespace tenon
