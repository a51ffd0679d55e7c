// The quantisation of tenon/quantize.hpp on the device of a launcher.
#pragma once

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/quantize.hpp"

namespace tenon {

Status quantize(Launcher& launcher, const Quantize& what) noexcept;

}  // namespace tenon
