// What the code of a kernel family is compiled for, and which devices run it. Host code. Below: compile.hpp,
// gemm/check_sm90.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstdlib>
#include <string>

#include "tenon/gemm/check_sm90.hpp"
#include "tenon/jit/compile.hpp"

namespace tenon::jit {

// Kernels of sm_80 and newer. A cubin runs on its own generation alone.
template <int minimum_sm>
struct Sm80Target {
  static std::string architecture(const CompileOptions& options) {
    return "sm_" + std::to_string(options.sm == 0 ? minimum_sm : options.sm);
  }
  static Status check(const DeviceDescription& device, const std::string& architecture) {
    const int sm = std::atoi(architecture.c_str() + 3);
    if (device.sm / 10 == sm / 10 && device.sm >= sm) return {};
    return Status(StatusCode::device_unsupported,
                  "the kernel was compiled for sm_%d but the device is sm_%d: CompileOptions::sm names it",
                  sm, device.sm);
  }
};

// Kernels of Hopper. Kernel: sm90::GemmKernel or sm90::AttentionKernel.
template <class Kernel>
struct Sm90aTarget {
  static std::string architecture(const CompileOptions&) { return "sm_90a"; }
  static Status check(const DeviceDescription& device, const std::string&) {
    return sm90::check_sm90(Kernel::name, device);
  }
};

}  // namespace tenon::jit
