// The kernel for a problem, and what prevents a faster one: type, alignment, layout, size, device.
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
  enum class Severity { against, note };  // costs speed; may cost speed
  const char* kind;  // "type", "alignment", "layout", "size", "device", "empty": stable, for scripts
  Severity severity;
  std::string message;  // what was found
  std::string remedy;   // what to do; may be empty
};

struct Diagnosis {
  const Kernel* kernel = nullptr;  // with all the workspace that it can use; nullptr if no kernel computes it
  std::size_t workspace_bytes = 0;
  bool pads_a = false, pads_b = false;  // copied into the workspace first, in its order or transposed
  const Kernel* kernel_without_workspace =
      nullptr;             // the same as `kernel` if workspace does not help; nullptr if none runs without
  std::int64_t tiles = 0;  // of C
  // The rate that select.hpp's model expects, relative to the kernel's rate for a large product of whole
  // tiles and waves: 1 if no multiprocessor idles or multiplies zeros.
  double efficiency = 0;
  std::vector<Obstacle> obstacles;
};

// problem: valid by validate_shape(), except that A and B may be f32. Only the alignment of its pointers
// matters; its workspace and kernel name are ignored.
Diagnosis diagnose(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device);

}  // namespace tenon::command
