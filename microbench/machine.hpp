// What every record says of the machine it was measured on.
#pragma once

#include <string>

namespace tenon::microbench {

struct Machine {
  std::string name;     // "NVIDIA H200"
  std::string toolkit;  // "CUDA 13.0, driver for CUDA 13.0"
};

// Failure if the device or the driver does not answer.
Machine describe_machine(int device);

}  // namespace tenon::microbench
