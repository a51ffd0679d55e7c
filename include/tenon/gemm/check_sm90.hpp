// Whether a device runs the code of sm_90a. Host code. Below: launch_plan.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include "tenon/gemm/launch_plan.hpp"

namespace tenon::sm90 {

inline Status check_sm90(const char* kernel, const DeviceDescription& device) noexcept {
  if (device.sm == 90) return {};
  return Status(StatusCode::device_unsupported, "%s needs sm_90a but the device is sm_%d", kernel, device.sm);
}

}  // namespace tenon::sm90
