// The host API of tenon/attention_backward.hpp on the device of a launcher. Each function does what the one
// of the same name there does on the current CUDA device.
#pragma once

#include "tenon/attention_backward.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

std::size_t workspace_size(Launcher& launcher, const AttentionBackwardProblem& problem,
                           const char* kernel = nullptr) noexcept;
Status can_implement(Launcher& launcher, const AttentionBackwardProblem& problem,
                     const char* kernel = nullptr) noexcept;
const char* kernel_name(Launcher& launcher, const AttentionBackwardProblem& problem,
                        const char* kernel = nullptr) noexcept;
Status attention_backward(Launcher& launcher, const AttentionBackwardProblem& problem,
                          const char* kernel = nullptr) noexcept;

}  // namespace tenon
