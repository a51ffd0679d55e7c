// Whether a tuning table decided which kernel runs, and if not, why not.
#pragma once

#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "tenon/gemm.hpp"

namespace tenon::command {

struct TuningAnswer {
  bool used = false;
  std::string why;  // "it has an entry for m = 64"; "it was measured on ... but this device ..."
};

// problem.tuning: the table. running: the kernel that runs, null if there is nothing to compute.
TuningAnswer tuning_answer(const std::vector<Kernel>& list, const Gemm& problem,
                           const DeviceDescription& device, const char* running);

}  // namespace tenon::command
