// The time of a call on the device.
#pragma once

#include <functional>
#include <vector>

#include "tenon/gemm.hpp"

namespace tenon::command {

// Milliseconds a call: the median of 11 bursts of about 2 ms between CUDA events, after a warm-up. Operands
// stay where they are, so small problems run from the L2 cache. Throws Failure where a call fails.
double time_gemm(const Gemm& problem);
// The same of any call that enqueues work on the default stream.
double time_call(const std::function<Status()>& call);
// Milliseconds of each of so many calls by itself, between CUDA events, after a warm-up.
std::vector<double> time_each(const std::function<Status()>& call, int calls);

}  // namespace tenon::command
