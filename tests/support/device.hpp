// The device that a test runs on: `--device=cuda` (unless told otherwise), or `--device=emulator` with
// `--schedule=early`, `late` or `random:SEED`. One test source serves both: L4 where there is a GPU, L3
// everywhere. Link with device_main.cpp (tenon_add_device_test does).
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "support/gpu.hpp"

namespace tenon::test {

// Set by main() before anything runs.
inline bool& emulated() {
  static bool chosen = false;
  return chosen;
}
inline emulator::Options& emulator_options() {
  static emulator::Options options = [] {
    emulator::Options sm_90;
    sm_90.numerics = emulator::Numerics::sm_90;
    return sm_90;
  }();
  return options;
}

// Opened at its first use. Null if it cannot be opened, with the reason in *why.
inline Device* device(Status* why = nullptr) {
  static std::unique_ptr<Device> opened;
  static const Status status =
      emulated() ? open_emulator_device(&opened, emulator_options()) : open_cuda_device(&opened);
  if (why != nullptr) *why = status;
  return opened.get();
}

inline Launcher& launcher() {
  return device()->launcher();
}

// Turns the emulator's findings since the last call into failures of the test. Returns its counts.
inline emulator::Counts expect_no_findings() {
  emulator::Counts counts;
  for (const LaunchReport& report : device()->take_reports()) {
    counts += report.result.counters.total;
    for (const emulator::Finding& finding : report.result.findings) {
      ADD_FAILURE() << report.what << ": " << emulator::name(finding.kind) << " at PTX line "
                    << finding.ptx_line << ", " << finding.count << " times: " << finding.message;
    }
  }
  return counts;
}

// Base of the tests. With --device=cuda they are skipped, with one sentence, if there is no GPU.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulated() && gpu_sm() < 80) GTEST_SKIP() << "needs a GPU of sm_80 or newer";
    Status why;
    ASSERT_NE(device(&why), nullptr) << why.message();
  }
  void TearDown() override {
    if (device() == nullptr) return;
    const Status status = device()->synchronize();
    EXPECT_TRUE(status) << status.message();
    expect_no_findings();
  }
};

// Base of tests that need what only a GPU has.
class CudaTest : public DeviceTest {
 protected:
  void SetUp() override {
    if (emulated()) GTEST_SKIP() << "only a GPU has it";
    DeviceTest::SetUp();
  }
};

// Memory of the device that holds a copy of a host vector.
template <typename T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : count_(values.size()) {
    Status status = device()->allocate(count_ * sizeof(T), &data_);
    if (status) status = device()->upload(data_, values.data(), count_ * sizeof(T));
    EXPECT_TRUE(status) << status.message();
  }
  ~Buffer() { device()->free(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* get() const { return static_cast<T*>(data_); }
  void write(const std::vector<T>& values) {
    ASSERT_EQ(values.size(), count_);
    const Status status = device()->upload(data_, values.data(), count_ * sizeof(T));
    ASSERT_TRUE(status) << status.message();
  }
  std::vector<T> read() const {
    std::vector<T> values;
    read(&values);
    return values;
  }
  void read(std::vector<T>* values) const {
    values->resize(count_);
    const Status status = device()->download(values->data(), data_, count_ * sizeof(T));
    EXPECT_TRUE(status) << status.message();
  }

 private:
  void* data_ = nullptr;
  std::size_t count_;
};

}  // namespace tenon::test
