// The host API of tenon/gemm.hpp and tenon/gemm_scaled.hpp on the device of a launcher. Each function does
// what the one of the same name there does on the current CUDA device.
#pragma once

#include "tenon/gemm.hpp"
#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm_scaled.hpp"

namespace tenon {

Status can_implement(Launcher& launcher, const Gemm& problem) noexcept;
std::size_t workspace_size(Launcher& launcher, const Gemm& problem) noexcept;
const char* kernel_name(Launcher& launcher, const Gemm& problem) noexcept;
Status gemm(Launcher& launcher, const Gemm& problem) noexcept;

Status can_implement(Launcher& launcher, const ScaledGemm& problem) noexcept;
const char* kernel_name(Launcher& launcher, const ScaledGemm& problem) noexcept;
Status gemm(Launcher& launcher, const ScaledGemm& problem) noexcept;

}  // namespace tenon
