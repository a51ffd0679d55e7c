// What gemm() does for a problem: the kernel, and the operands that it first copies into the workspace.
//
// Every function is pure: the kernel list and the device are arguments.
#pragma once

#include <cstddef>
#include <vector>

#include "gemm/kernel.hpp"
#include "gemm/select.hpp"
#include "tenon/gemm.hpp"

namespace tenon {

struct Plan {
  const Kernel* kernel = nullptr;
  // Operands that the kernel reads from a copy with aligned rows (src/gemm/pad.hpp), the orders of the
  // copies, and their offsets in the workspace. A's copy is at 0.
  bool pad_a = false, pad_b = false;
  Order a_order = row_major, b_order = column_major;
  std::size_t b_offset = 0;
  // The kernel computes the transpose of C from B^T and A^T, into the workspace. A copy then transposes it.
  bool swaps_ab = false;
  std::size_t c_offset = 0;
  // Of the workspace that the kernel itself needs (Kernel::workspace_bytes): after the copies.
  std::size_t kernel_offset = 0;

  // Whether something is copied into the workspace, or out of it.
  bool has_copies() const noexcept { return pad_a || pad_b || swaps_ab; }
};

// The problem with an aligned leading dimension for each matrix that has a single row (column). Nothing uses
// that leading dimension: so it must not decide anything, and no tensor map may contain it. gemm() plans and
// runs this problem.
Gemm with_unused_lds_aligned(const Gemm& problem) noexcept;

// The workspace with which the problem runs fastest, in bytes: that of the padded copies if padding pays or
// if the named kernel needs it, else 0. problem.workspace is ignored.
std::size_t planned_workspace(const std::vector<Kernel>& list, const Gemm& problem,
                              const DeviceDescription& device);

// The plan for a valid problem with m, n, k > 0 and alpha != 0, within the workspace of the problem.
// unsupported or device_unsupported if no kernel (or not the named one) computes it, workspace_too_small if
// the named kernel computes it with more workspace, invalid_argument if no kernel has the name. refused:
// kernels of the list that are not chosen. They do not affect a kernel that the problem names.
Status make_plan(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device,
                 Plan* plan, const RefusedKernels& refused = {});

// The expected time of a plan from make_plan(), its copies included, in the unit of estimated_cost().
double planned_cost(const Gemm& problem, const Plan& plan, const DeviceDescription& device) noexcept;

// The problem that the planned kernel computes: the copies take the place of padded operands, and a plan that
// swaps A and B has the transposed problem.
Gemm planned_problem(const Gemm& problem, const Plan& plan) noexcept;

}  // namespace tenon
