// A device that tests and the command line can name: a GPU through CUDA, or the emulator. It has memory,
// copies, and a launcher for the functions of host/gemm_on.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tenon/emulator/emulator.hpp"
#include "tenon/gemm/launch_plan.hpp"
#include "tenon/status.hpp"

namespace tenon {

// The emulator's report about one launch.
struct LaunchReport {
  std::string what;  // the kernel's name, or its purpose
  emulator::Result result;
};

class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual const char* kind() const noexcept = 0;  // "cuda", "emulator"
  virtual std::string description() const = 0;    // "NVIDIA H200"
  virtual Launcher& launcher() noexcept = 0;

  // Aligned to 256 bytes; null for no bytes. The status of a failure names the size that was asked for.
  virtual Status allocate(std::size_t bytes, void** memory) noexcept = 0;
  virtual void free(void* memory) noexcept = 0;
  // Both wait for earlier launches, and have ended when they return.
  virtual Status upload(void* to, const void* from, std::size_t bytes) noexcept = 0;
  virtual Status download(void* to, const void* from, std::size_t bytes) noexcept = 0;
  virtual Status synchronize() noexcept = 0;
  // Bytes that can still be allocated, as far as the device knows.
  virtual Status free_memory(std::size_t* bytes) noexcept = 0;

  // One report per launch since the last call, in order; a GPU has none.
  virtual std::vector<LaunchReport> take_reports() { return {}; }
};

// The current CUDA device. device_unsupported, with the reason, where there is none that this build can use.
Status open_cuda_device(std::unique_ptr<Device>* device);

// The emulator, which runs the PTX of every kernel of the library. It describes itself as sm_90 with
// emulated_multiprocessors, and computes as sm_90 does unless the options choose otherwise. Where the PTX is
// not found: device_unsupported, with the folders that were searched.
Status open_emulator_device(std::unique_ptr<Device>* device, const emulator::Options& options);
Status open_emulator_device(std::unique_ptr<Device>* device);

// A small number: a persistent grid has as many blocks, so that small products already give a block several
// tiles, and the choice of a kernel depends on the work of a product rather than on how evenly it fills a
// GPU.
constexpr int emulated_multiprocessors = 4;

}  // namespace tenon
