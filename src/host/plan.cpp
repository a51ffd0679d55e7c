// The decisions of plan.hpp.
#include "host/plan.hpp"

#include <algorithm>

#include "gemm/pad.hpp"
#include "host/tuning_table.hpp"

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

// wgmma reads only 16-bit operands in either order; of others k is contiguous.
constexpr Order a_order = row_major, b_order = column_major;

// The copy of an operand in the workspace: it keeps the order of 16-bit operands.
struct OperandCopy {
  Order order;
  std::int64_t ld;
  std::size_t bytes;
};
OperandCopy copy_of(const ConstMatrix& x, Order k_contiguous, std::int64_t rows,
                    std::int64_t columns) noexcept {
  const std::size_t element = bytes(x.type);
  const Order order = element == 2 ? x.order : k_contiguous;
  const std::int64_t lines = order == row_major ? rows : columns,
                     length = order == row_major ? columns : rows;
  const std::size_t needed = padded_bytes(lines, length, element);
  return {order, padded_ld(length, element), (needed + 255) / 256 * 256};
}
OperandCopy copy_of_a(const Gemm& p) noexcept {
  return copy_of(p.a, a_order, p.m, p.k);
}
OperandCopy copy_of_b(const Gemm& p) noexcept {
  return copy_of(p.b, b_order, p.k, p.n);
}

bool needs_copy(const ConstMatrix& x, Order k_contiguous) noexcept {
  return copy_alignment(x) < 16 || (bytes(x.type) != 2 && x.order != k_contiguous);
}

}  // namespace

Gemm planned_problem(const Gemm& problem, const Plan& plan) noexcept {
  Gemm run = problem;
  char* workspace = static_cast<char*>(problem.workspace);
  const auto copied = [](ConstMatrix& x, const OperandCopy& copy, void* data) {
    x.data = data;
    x.order = copy.order;
    x.ld = copy.ld;
  };
  if (plan.pad_a) copied(run.a, copy_of_a(problem), workspace);
  if (plan.pad_b) copied(run.b, copy_of_b(problem), workspace + plan.b_offset);
  return run;
}

namespace {

// The plan that copies every operand that the fast kernels cannot take, without its kernel.
Plan padding_plan(const Gemm& p, std::size_t* needed) noexcept {
  Plan plan;
  plan.pad_a = needs_copy(p.a, a_order);
  plan.pad_b = needs_copy(p.b, b_order);
  const std::size_t a_bytes = plan.pad_a ? copy_of_a(p).bytes : 0;
  const std::size_t b_bytes = plan.pad_b ? copy_of_b(p).bytes : 0;
  plan.b_offset = a_bytes;
  *needed = a_bytes + b_bytes;
  return plan;
}

// The kernel that the problem names, or `tuned` (if there is one, and it takes the problem), or the choice
// among all but the refused; nullptr and why if none computes it.
const Kernel* choose(const std::vector<Kernel>& list, const Gemm& problem, const Kernel* tuned,
                     const DeviceDescription& device, const RefusedKernels& refused, Status* why) {
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
  if (tuned != nullptr && accepts(*tuned, problem, device)) return tuned;
  if (const Kernel* kernel = select_kernel(list, problem, device, refused)) return kernel;
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
                 const RefusedKernels& refused, bool any_workspace, Plan* plan, std::size_t* used) {
  *plan = Plan{};
  *used = 0;
  Status why_not_direct, why_not_padded;
  // Tables speak of the operands as the caller has them, not of their copies. They name kernels; whether
  // operands are copied is decided with them as without.
  const Kernel* tuned = problem.kernel == nullptr ? tuned_kernel(list, problem, device) : nullptr;
  if (std::find(refused.begin(), refused.end(), tuned) != refused.end()) tuned = nullptr;
  const Kernel* direct = choose(list, problem, tuned, device, refused, &why_not_direct);

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
    padded.kernel =
        choose(list, planned_problem(with_workspace, at_its_start), tuned, device, refused, &why_not_padded);
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
  plan_with(list, problem, device, {}, true, &plan, &needed);
  return needed;
}

Status make_plan(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device,
                 Plan* plan, const RefusedKernels& refused) {
  std::size_t used = 0;
  return plan_with(list, problem, device, refused, false, plan, &used);
}

}  // namespace tenon
