// Checks an AttentionProblem by itself, as validate.hpp does a Gemm. Pure functions.
#pragma once

#include "tenon/attention/problem.hpp"
#include "tenon/status.hpp"

namespace tenon {

// check_problem() (attention/check_problem.hpp), and that O and the log-sum-exp have memory of their own.
Status validate(const AttentionProblem& problem) noexcept;

}  // namespace tenon
