// Checks an AttentionProblem by itself, as validate.hpp does a Gemm. Pure functions.
#pragma once

#include <cstddef>

#include "tenon/attention/problem.hpp"
#include "tenon/status.hpp"

namespace tenon {

// check_problem() (attention/check_problem.hpp), and that O and the log-sum-exp have memory of their own.
Status validate(const AttentionProblem& problem) noexcept;

// Whether the workspace of such a problem, if there is one, has the bytes and the place that it needs.
Status validate_workspace(const AttentionProblem& problem, std::size_t needed) noexcept;

}  // namespace tenon
