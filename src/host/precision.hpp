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

// C = alpha * A * B + beta * C of the parts, where they lie in the workspace. Where it cannot hold them, at
// an address as aligned: the choice of a kernel depends on nothing else.
Gemm product_of_parts(const Gemm& problem) noexcept;

// Whether one kernel rounds the operands as it loads them, and the workspace is not used: where that takes
// less time than the split and the product of parts, or where the problem's workspace is too small for these
// (any_workspace: is taken to be large enough), or where the problem names such a kernel. f16 and bf16 alone.
bool rounds_while_loading(const Gemm& problem, const DeviceDescription& device, bool any_workspace);

// How a problem becomes products. With a precision it is one kernel that rounds the operands (itself), the
// product of parts, or, where that takes less time, the product of the leading parts, with promoted
// accumulators, and then that of all others, without, added to C: their magnitude is 2^-8 (2^-11 with tf32)
// of the whole, so that truncated accumulators lose nothing that counts, and larger tiles, which leave no
// registers for promotion, compute them. Only for C in f32.
enum class Division { itself, of_parts, of_leading_parts_and_others };
Division choose_division(const Gemm& problem, const DeviceDescription& device);

// The products that compute a problem, one after the other.
struct Products {
  Gemm product[2];  // with the precision of the problem where a kernel rounds its operands, else without
  int count = 1;
  Division division = Division::itself;
};
Products divide(const Gemm& problem, Division division) noexcept;
inline Products products_to_run(const Gemm& problem, const DeviceDescription& device) {
  return divide(problem, choose_division(problem, device));
}

// Enqueues the split of A and B into the workspace.
Status split_into_workspace(Launcher& launcher, const Gemm& problem) noexcept;

}  // namespace tenon
