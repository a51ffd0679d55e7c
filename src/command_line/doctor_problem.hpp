// Which kernel a problem gets, and what keeps it from a faster one: type, alignment, layout, size, device.
//
// Pure: the kernel list and the device are arguments, no CUDA call is made, and no matrix is needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "tenon/gemm.hpp"

namespace tenon::command {

// One reason why the product is not as fast as it could be.
struct Obstacle {
  enum class Severity { against, note };  // costs speed; is to be weighed
  const char* kind;  // "type", "alignment", "layout", "size", "device", "empty": stable, for scripts
  Severity severity;
  std::string message;  // what was found
  std::string remedy;   // what to do; may be empty
};

struct Diagnosis {
  const Kernel* kernel = nullptr;  // with as much workspace as helps; nullptr if no kernel computes it
  std::size_t workspace_bytes = 0;
  bool pads_a = false, pads_b = false;  // copied into the workspace first, as it lies or transposed
  const Kernel* kernel_without_workspace = nullptr;  // the same as `kernel` if none helps; or there is none
  std::int64_t tiles = 0;                            // of C, of the kernel's size
  // The rate that select.hpp's model expects, as a part of the kernel's rate for matrices much larger than
  // the machine: 1 where every multiprocessor multiplies nothing but elements of C.
  double efficiency = 0;
  std::vector<Obstacle> obstacles;
};

// The problem is valid by validate_shape(), except that A and B may be f32; its pointers are looked at for
// their alignment only, its workspace and kernel name not at all.
Diagnosis diagnose(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device);

}  // namespace tenon::command
