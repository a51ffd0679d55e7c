// What the current CUDA device is, as far as the choice of a kernel depends on it.
#pragma once

#include "gemm/select.hpp"
#include "tenon/status.hpp"

namespace tenon {

// Whether machine code for some of these architectures ("80 86 89 90") is such that a device of this compute
// capability executes: code for sm_xy runs on x.z with z >= y, and no other.
bool runs_code_for(const char* architectures, int sm) noexcept;

// Whether this build holds such code.
bool has_code_for(int sm) noexcept;

// The architectures that this build holds code for: "80 86 89 90".
const char* built_architectures() noexcept;

// Fills *device for the current device; no synchronisation, nothing cached. device_unsupported, with the
// reason, if there is no device or driver, or no code for the device.
Status describe_current_device(DeviceDescription* device) noexcept;

}  // namespace tenon
