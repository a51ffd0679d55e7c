// The host API of tenon/gemm_f64_slices.hpp on the device of a launcher. Each function does what the one of
// the same name there does on the current CUDA device.
#pragma once

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm_f64_slices.hpp"

namespace tenon {

Status can_implement(Launcher& launcher, const SlicedGemm& problem) noexcept;
Status gemm(Launcher& launcher, const SlicedGemm& problem) noexcept;

}  // namespace tenon
