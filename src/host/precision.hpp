// Products of f32 operands (Gemm::precision): the workspace that holds their parts, and the product of these
// parts, which any kernel for their type computes. Below: gemm/split.hpp.
#pragma once

#include <cstddef>

#include "tenon/gemm.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// All of these: of a problem that passed validate_shape(), has a precision, and has m, n, k > 0.

// Bytes of the parts of A and B.
std::size_t parts_bytes(const Gemm& problem) noexcept;

// workspace_too_small, with a sentence, if the workspace cannot hold the parts.
Status check_parts_workspace(const Gemm& problem) noexcept;

// C = alpha * A * B + beta * C of the parts, where they lie in the workspace. Where it cannot hold them, at an
// address as aligned: the choice of a kernel depends on nothing else.
Gemm product_of_parts(const Gemm& problem) noexcept;

// Enqueues the split of A and B into the workspace.
Status split_into_workspace(Launcher& launcher, const Gemm& problem) noexcept;

}  // namespace tenon
