// The host API of tenon/gemm_batched.hpp on the device of a launcher. Each function does what the one of the
// same name there does on the current CUDA device.
#pragma once

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm_batched.hpp"

namespace tenon {

Status can_implement(Launcher& launcher, const BatchedGemm& batch) noexcept;
const char* kernel_name(Launcher& launcher, const BatchedGemm& batch) noexcept;
Status gemm_batched(Launcher& launcher, const BatchedGemm& batch) noexcept;

}  // namespace tenon
