// The time of one gemm() call on the device.
#pragma once

#include "tenon/gemm.hpp"

namespace tenon::command {

// Milliseconds a call: the median of 11 bursts of about 2 ms between CUDA events, after a warm-up. Operands
// stay where they are, so small problems run from the L2 cache. Throws Failure where a call fails.
double time_gemm(const Gemm& problem);

}  // namespace tenon::command
