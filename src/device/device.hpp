// A device that tests and the command line can name: a GPU through CUDA, or the emulator. Memory, copies, and
// a launcher for the functions of host/gemm_on.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/emulator/emulator.hpp"
#include "tenon/status.hpp"

namespace tenon {

// What the emulator has to say about one launch.
struct LaunchReport {
  std::string what;  // the kernel's name, or what it does
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

  // Aligned to 256 bytes; for no bytes null. Fails with a sentence that says how much was wanted.
  virtual Status allocate(std::size_t bytes, void** memory) noexcept = 0;
  virtual void free(void* memory) noexcept = 0;
  // Both wait for what was launched before, and have ended when they return.
  virtual Status upload(void* to, const void* from, std::size_t bytes) noexcept = 0;
  virtual Status download(void* to, const void* from, std::size_t bytes) noexcept = 0;
  virtual Status synchronize() noexcept = 0;
  // Bytes that can still be allocated, as far as the device knows.
  virtual Status free_memory(std::size_t* bytes) noexcept = 0;

  // One report a launch since the last call, in their order; none from a GPU.
  virtual std::vector<LaunchReport> take_reports() { return {}; }
};

// The current CUDA device. device_unsupported, with the reason, where there is none that this build can use.
Status open_cuda_device(std::unique_ptr<Device>* device);

// The emulator, which runs the PTX of every kernel of the library. It describes itself as sm_90 with
// emulated_multiprocessors and computes as sm_90 does, unless the options say otherwise. device_unsupported,
// with the places that were looked at, where the PTX is not found.
Status open_emulator_device(std::unique_ptr<Device>* device, const emulator::Options& options);
Status open_emulator_device(std::unique_ptr<Device>* device);

// So few because a persistent grid has as many blocks: tests reach several tiles a block with small products,
// and the choice of a kernel weighs the work of a product rather than how evenly it fills a GPU.
constexpr int emulated_multiprocessors = 4;

}  // namespace tenon
