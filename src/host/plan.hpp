// What gemm() does for a problem: which kernel, and which operands it copies into the workspace before.
//
// Pure: the kernel list and the device are arguments.
#pragma once

#include <cstddef>
#include <vector>

#include "gemm/kernel.hpp"
#include "gemm/select.hpp"
#include "tenon/gemm.hpp"

namespace tenon {

struct Plan {
  const Kernel* kernel = nullptr;
  // Operands that run from a copy with aligned rows (src/gemm/pad.hpp), the copies' orders, and where in the
  // workspace they lie.
  bool pad_a = false, pad_b = false;
  Order a_order = row_major, b_order = column_major;
  std::size_t b_offset = 0;  // A's copy is at 0
  // Computes the transpose of C, from B as A and A as B, into the workspace; a copy then transposes it.
  bool turns = false;
  std::size_t c_offset = 0;
};

// The same problem, in which a matrix of a single line has the leading dimension of one with aligned lines.
// Its own is never used: so it decides nothing, and no tensor map gets to see it. What is planned, and what
// runs, is this problem.
Gemm with_unused_lds_aligned(const Gemm& problem) noexcept;

// Bytes with which the problem runs fastest: those of the padded copies if padding pays or if the kernel
// named needs it, else 0. problem.workspace is not looked at.
std::size_t planned_workspace(const std::vector<Kernel>& list, const Gemm& problem,
                              const DeviceDescription& device);

// The plan for a valid problem with m, n, k > 0 and alpha != 0, within the workspace that the problem brings.
// unsupported / device_unsupported if no kernel (or not the one named) computes it, workspace_too_small if
// the kernel named could with more workspace, invalid_argument if no kernel has the name. refused: kernels of
// the list that are not chosen; one that the problem names is.
Status make_plan(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device,
                 Plan* plan, const RefusedKernels& refused = {});

// The time that is expected of a plan of make_plan(), the copies included, in the unit of estimated_cost().
double planned_cost(const Gemm& problem, const Plan& plan, const DeviceDescription& device) noexcept;

// The problem that the planned kernel computes: padded operands replaced by their copies, and if the plan
// turns the problem, the turned one.
Gemm planned_problem(const Gemm& problem, const Plan& plan) noexcept;

}  // namespace tenon
