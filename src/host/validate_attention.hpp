// Checks an AttentionProblem by itself, as validate.hpp does a Gemm. Pure functions.
#pragma once

#include <cstddef>

#include "tenon/attention/backward_problem.hpp"
#include "tenon/status.hpp"

namespace tenon {

// check_problem() (attention/check_problem.hpp), and that O and the log-sum-exp have memory of their own.
Status validate(const AttentionProblem& problem) noexcept;

// Whether the workspace of such a problem, if there is one, has the bytes and the place that it needs.
Status validate_workspace(const AttentionProblem& problem, std::size_t needed) noexcept;

// That dQ, dK, dV and the workspace have memory of their own. The problem passed check_problem() and is not
// empty. workspace_bytes: that are used.
Status validate(const AttentionBackwardProblem& problem, std::size_t workspace_bytes) noexcept;

}  // namespace tenon
