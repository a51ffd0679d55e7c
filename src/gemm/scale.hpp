// C = beta * C: what is left of a product with k == 0 or alpha == 0.
#pragma once

#include "tenon/gemm.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// Launches C = beta * C over the m x n elements of the result, which is C, rounded once from float (f64: from
// double). beta == 0 writes zeros and reads nothing; beta == 1 launches nothing. m, n > 0 and the problem is
// valid.
Status scale_c(Launcher& launcher, const Gemm& problem) noexcept;

}  // namespace tenon
