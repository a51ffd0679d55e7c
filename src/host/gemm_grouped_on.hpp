// The host API of tenon/gemm_grouped.hpp on the device of a launcher. Each function does what the one of the
// same name there does on the current CUDA device.
#pragma once

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm_grouped.hpp"

namespace tenon {

Status can_implement(Launcher& launcher, const GroupedGemm& problem) noexcept;
const char* kernel_name(Launcher& launcher, const GroupedGemm& problem) noexcept;
Status gemm_grouped(Launcher& launcher, const GroupedGemm& problem) noexcept;

}  // namespace tenon
