// The host API of tenon/attention.hpp on the device of a launcher. Each function does what the one of the
// same name there does on the current CUDA device.
#pragma once

#include "tenon/attention.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

Status can_implement(Launcher& launcher, const AttentionProblem& problem,
                     const char* kernel = nullptr) noexcept;
const char* kernel_name(Launcher& launcher, const AttentionProblem& problem,
                        const char* kernel = nullptr) noexcept;
std::size_t workspace_size(Launcher& launcher, const AttentionProblem& problem,
                           const char* kernel = nullptr) noexcept;
Status attention(Launcher& launcher, const AttentionProblem& problem, const char* kernel = nullptr) noexcept;

}  // namespace tenon
