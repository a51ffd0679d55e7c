// What a prepared product needs of its device: to load kernels beforehand, to launch them without doing that
// again, and to recognise the device.
#pragma once

#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// A device of this process between two resets. device: its number; context: of CUDA's contexts, never used
// twice in a process.
struct DeviceIdentity {
  int device = 0;
  unsigned long long context = 0;
};

class LoadingLauncher : public Launcher {
 public:
  virtual Status identify(DeviceIdentity* identity) noexcept = 0;
  // Launches nothing. Statuses as those of launch().
  virtual Status load(const Launch& launch) noexcept = 0;
  virtual Status launch_loaded(const Launch& launch) noexcept = 0;
  // Makes a map of make_tensor_map() one of a matrix of the same sizes, strides and type elsewhere, as
  // aligned as the map needs it.
  virtual Status replace_address(const void* data, TensorMap* map) noexcept = 0;

 protected:
  ~LoadingLauncher() = default;
};

}  // namespace tenon
