// The properties of the current CUDA device on which the choice of a kernel depends.
#pragma once

#include "gemm/select.hpp"
#include "tenon/status.hpp"

namespace tenon {

// Whether a device of compute capability `sm` executes machine code for one of the architectures ("80 86 89
// 90"). Code for sm_xy runs on devices x.z with z >= y only.
bool runs_code_for(const char* architectures, int sm) noexcept;

// Whether this build has such code.
bool has_code_for(int sm) noexcept;

// The architectures that this build has code for: "80 86 89 90".
const char* built_architectures() noexcept;

// Fills *device for the current device, without synchronisation. Each thread remembers its last device.
// device_unsupported, with the reason, if there is no device, no driver, or
// no code for the device.
Status describe_current_device(DeviceDescription* device) noexcept;

}  // namespace tenon
