// The decisions of plan.hpp.
#include "host/plan.hpp"

#include <algorithm>

#include "gemm/pad.hpp"

namespace tenon {
namespace {

// Copying an operand moves 4 bytes an element, once; the copy saves work in every tile that reads the
// element. H200, bf16, odd leading dimensions, microseconds with copies and without: 64^3 4.9 and 7.2,
// 192^3 6.4 and 16.7, 64 x 4096 x 4096 50 and 206, 32 x 4096 x 1024 18 and 54. Smaller products were not
// measured.
bool padding_pays(const Gemm& p) noexcept {
  return p.k >= 64 &&
         static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) >= 64.0 * 64.0 * 64.0;
}

std::int64_t lines(const ConstMatrix& x, std::int64_t rows, std::int64_t columns) noexcept {
  return x.order == row_major ? rows : columns;
}
std::int64_t length(const ConstMatrix& x, std::int64_t rows, std::int64_t columns) noexcept {
  return x.order == row_major ? columns : rows;
}

}  // namespace

Gemm planned_problem(const Gemm& problem, const Plan& plan) noexcept {
  Gemm run = problem;
  char* workspace = static_cast<char*>(problem.workspace);
  if (plan.pad_a) {
    run.a.data = workspace;
    run.a.ld = padded_ld(length(problem.a, problem.m, problem.k));
  }
  if (plan.pad_b) {
    run.b.data = workspace + plan.b_offset;
    run.b.ld = padded_ld(length(problem.b, problem.k, problem.n));
  }
  return run;
}

namespace {

// The plan that pads every operand that 16-byte copies cannot take, without its kernel.
Plan padding_plan(const Gemm& p, std::size_t* needed) noexcept {
  Plan plan;
  plan.pad_a = copy_alignment(p.a) < 16;
  plan.pad_b = copy_alignment(p.b) < 16;
  const auto round_up = [](std::size_t x) { return (x + 255) / 256 * 256; };
  const std::size_t a_bytes =
      plan.pad_a ? round_up(padded_bytes(lines(p.a, p.m, p.k), length(p.a, p.m, p.k))) : 0;
  const std::size_t b_bytes =
      plan.pad_b ? round_up(padded_bytes(lines(p.b, p.k, p.n), length(p.b, p.k, p.n))) : 0;
  plan.b_offset = a_bytes;
  *needed = a_bytes + b_bytes;
  return plan;
}

// The kernel that the problem names, or the choice among all; nullptr and why if none computes it.
const Kernel* choose(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device,
                     Status* why) {
  if (problem.kernel != nullptr) {
    for (const Kernel& kernel : list) {
      if (kernel.name != problem.kernel) continue;
      return accepts(kernel, problem, device, why) ? &kernel : nullptr;
    }
    *why =
        Status(StatusCode::invalid_argument,
               "no kernel has the name '%.100s': `tenon list` prints the names that exist", problem.kernel);
    return nullptr;
  }
  if (const Kernel* kernel = select_kernel(list, problem, device)) return kernel;
  // Why not: a kernel that only another device could run says most, then one that refuses for another reason.
  *why = Status(StatusCode::unsupported,
                "this build has no kernel for %s inputs accumulated in %s, A %s, B %s", name(problem.a.type),
                name(problem.accumulate), problem.a.order == row_major ? "row-major" : "column-major",
                problem.b.order == row_major ? "row-major" : "column-major");
  for (const Kernel& kernel : list) {
    Status refusal;
    if (!accepts(kernel, problem, device, &refusal) && refusal.code() == StatusCode::device_unsupported) {
      *why = refusal;
      break;
    }
  }
  return nullptr;
}

// The plan within the workspace of the problem, or (any_workspace) with as much as helps, and the bytes it
// uses.
Status plan_with(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device,
                 bool any_workspace, Plan* plan, std::size_t* used) {
  *plan = Plan{};
  *used = 0;
  Status why_not_direct, why_not_padded;
  const Kernel* direct = choose(list, problem, device, &why_not_direct);

  std::size_t needed = 0;
  Plan padded = padding_plan(problem, &needed);
  if (needed != 0 && (direct == nullptr || padding_pays(problem))) {
    // The choice looks at the alignment of the copies only: an address aligned like theirs stands for both,
    // whether there is a workspace or not.
    alignas(256) char aligned = 0;
    Gemm with_workspace = problem;
    with_workspace.workspace = &aligned;
    Plan at_its_start = padded;
    at_its_start.b_offset = 0;
    padded.kernel = choose(list, planned_problem(with_workspace, at_its_start), device, &why_not_padded);
    if (padded.kernel != nullptr) {
      if (any_workspace || problem.workspace_bytes >= needed) {
        *plan = padded;
        *used = needed;
        return {};
      }
      if (direct == nullptr) {
        return Status(StatusCode::workspace_too_small,
                      "workspace_bytes is %zu but %s needs >= %zu here to copy operands into aligned rows",
                      problem.workspace_bytes, padded.kernel->name.c_str(), needed);
      }
    }
  }
  if (direct == nullptr) return why_not_direct;
  plan->kernel = direct;
  return {};
}

}  // namespace

std::size_t planned_workspace(const std::vector<Kernel>& list, const Gemm& problem,
                              const DeviceDescription& device) {
  Plan plan;
  std::size_t needed = 0;
  plan_with(list, problem, device, true, &plan, &needed);
  return needed;
}

Status make_plan(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device,
                 Plan* plan) {
  std::size_t used = 0;
  return plan_with(list, problem, device, false, plan, &used);
}

}  // namespace tenon
