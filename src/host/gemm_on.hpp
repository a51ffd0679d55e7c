// The host API of tenon/gemm.hpp on a device of one's choice. Each function here is the one of the same name
// there, which runs it on the current CUDA device; what that says of the current device holds for the
// launcher's.
#pragma once

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm.hpp"

namespace tenon {

Status can_implement(Launcher& launcher, const Gemm& problem) noexcept;
std::size_t workspace_size(Launcher& launcher, const Gemm& problem) noexcept;
const char* kernel_name(Launcher& launcher, const Gemm& problem) noexcept;
Status gemm(Launcher& launcher, const Gemm& problem) noexcept;

}  // namespace tenon
