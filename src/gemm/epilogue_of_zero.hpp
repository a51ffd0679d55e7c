// D = epilogue(beta * C): what is left of a product with an epilogue if k == 0 or alpha == 0.
#pragma once

#include "tenon/gemm.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// Launches the epilogue over the m x n elements of the result. m, n > 0 and the problem is valid.
Status epilogue_of_zero(Launcher& launcher, const Gemm& problem) noexcept;

}  // namespace tenon
