// The decisions of plan.hpp.
#include "host/plan.hpp"

#include <algorithm>
#include <limits>

#include "gemm/pad.hpp"
#include "gemm/result.hpp"
#include "gemm/swapped_operands.hpp"
#include "host/tuning_table.hpp"

namespace tenon {
namespace {

// A copy moves 4 bytes for each element once, and saves work in every tile that reads the element. On an
// H200, in 16 bits with odd leading dimensions, microseconds with copies and without: 72 x 80 x 40 3.1 and
// 4.5, 21 x 112 x 45 3.2 and 4.7, 21 x 23 x 533 4.7 and 22, 192^3 6.4 and 16.7, 64 x 4096 x 4096 50 and 206.
// Of 44 drawn products with k from 16 to 39 copies were faster for 38, by 1.22 in the mean
// (results/h200/choices_*). Shorter k were not measured.
bool padding_pays(const Gemm& p) noexcept {
  return p.k >= 16;
}

// The copy of an operand in the workspace.
struct OperandCopy {
  std::int64_t ld;
  std::size_t bytes;
};
OperandCopy copy_of(const ConstMatrix& x, Order order, std::int64_t rows, std::int64_t columns) noexcept {
  const std::int64_t count = order == row_major ? rows : columns,
                     length = order == row_major ? columns : rows;
  const std::size_t needed = padded_bytes(count, length, bytes(x.type));
  return {padded_ld(length, bytes(x.type)), (needed + 255) / 256 * 256};
}
OperandCopy copy_of_a(const Gemm& p, const Plan& plan) noexcept {
  return copy_of(p.a, plan.a_order, p.m, p.k);
}
OperandCopy copy_of_b(const Gemm& p, const Plan& plan) noexcept {
  return copy_of(p.b, plan.b_order, p.k, p.n);
}

// The problem B^T A^T = C^T, with C^T row-major at `c`.
Gemm swap_ab(const Gemm& problem, void* c) noexcept {
  Gemm result = with_swapped_operands(problem);
  // The transposing copy reads 16 bytes at a time. The copy of A has zeros after its last row.
  result.n = (problem.m + 7) / 8 * 8;
  result_of(result).ld = padded_ld(problem.m, bytes(result_of(problem).type));
  result_of(result).data = c;
  return result;
}

}  // namespace

Gemm with_unused_lds_aligned(const Gemm& problem) noexcept {
  Gemm result = problem;
  const auto align = [](std::int64_t& ld, Type type, std::int64_t count, std::int64_t length) {
    if (count == 1) ld = padded_ld(length, bytes(type));
  };
  const auto align_operand = [&](ConstMatrix& x, std::int64_t rows, std::int64_t columns) {
    const bool by_rows = x.order == row_major;
    align(x.ld, x.type, by_rows ? rows : columns, by_rows ? columns : rows);
  };
  align_operand(result.a, problem.m, problem.k);
  align_operand(result.b, problem.k, problem.n);
  align(result_of(result).ld, result_of(problem).type, problem.m, columns_of_result(problem));
  return result;
}

Gemm planned_problem(const Gemm& problem, const Plan& plan) noexcept {
  Gemm run = with_unused_lds_aligned(problem);
  char* workspace = static_cast<char*>(problem.workspace);
  const auto copied = [](ConstMatrix& x, Order order, const OperandCopy& copy, void* data) {
    x.data = data;
    x.order = order;
    x.ld = copy.ld;
  };
  if (workspace != nullptr) run.workspace = workspace + plan.kernel_offset;
  run.workspace_bytes -= std::min(run.workspace_bytes, plan.kernel_offset);
  if (plan.pad_a) copied(run.a, plan.a_order, copy_of_a(problem, plan), workspace);
  if (plan.pad_b) copied(run.b, plan.b_order, copy_of_b(problem, plan), workspace + plan.b_offset);
  return plan.swaps_ab ? swap_ab(run, workspace + plan.c_offset) : run;
}

namespace {

// What the copies of a plan take: bytes of the workspace, and time.
struct Copies {
  std::size_t bytes = 0;
  double cost = 0;
};

// Gives each copy of the plan its place in the workspace.
Copies lay_out_copies(const Gemm& p, const DeviceDescription& device, Plan* plan) noexcept {
  Copies result;
  double moved = 0;  // bytes of copies that keep the order: one launch makes both
  const auto add = [&](bool is_copied, const ConstMatrix& x, Order order, const OperandCopy& copy) {
    if (!is_copied) return;
    result.bytes += copy.bytes;
    if (x.order == order) {
      moved += static_cast<double>(copy.bytes);
    } else {
      result.cost += estimated_copy_cost(static_cast<double>(copy.bytes), true, device);
    }
  };
  add(plan->pad_a, p.a, plan->a_order, copy_of_a(p, *plan));
  plan->b_offset = result.bytes;
  add(plan->pad_b, p.b, plan->b_order, copy_of_b(p, *plan));
  if (moved != 0) result.cost += estimated_copy_cost(moved, false, device);
  plan->kernel_offset = result.bytes;
  if (!plan->swaps_ab) return result;
  plan->c_offset = result.bytes;
  const OperandCopy c =
      copy_of({result_of(p).data, result_of(p).ld, row_major, result_of(p).type}, column_major, p.m, p.n);
  result.bytes += c.bytes;
  plan->kernel_offset = result.bytes;
  result.cost += estimated_copy_cost(static_cast<double>(c.bytes), true, device);
  return result;
}

// The operand that a kernel with unaligned operands reads without a copy.
enum class Keeps {
  nothing,      // any kernel, aligned operands
  a,            // row-interleaved views of A: any leading dimension, aligned first row
  b_as_a,       // the same of B, which is the A operand of the swapped problem
  b,            // an unaligned kernel: any B
  a_unaligned,  // an unaligned kernel: any A
};

// A way to run a problem from copies, before its kernel is known. Each operand gets the given order. An
// operand is copied if its order differs or if its rows do not begin on multiples of 16 bytes, unless the
// kernel keeps it.
struct Way {
  Plan plan;
  Keeps keeps = Keeps::nothing;
  std::size_t needed = 0;  // bytes of workspace
  double cost = 0;         // of the copies; plan_with() adds that of the kernel
};
Way way(const Gemm& p, const DeviceDescription& device, Order a_order, Order b_order,
        Keeps keeps = Keeps::nothing) noexcept {
  const auto needs_copy = [](const ConstMatrix& x, Order order) {
    return copy_alignment(x) < 16 || x.order != order;
  };
  Way result;
  Plan& plan = result.plan;
  plan.a_order = a_order;
  plan.b_order = b_order;
  plan.pad_a = keeps != Keeps::a && keeps != Keeps::a_unaligned && needs_copy(p.a, a_order);
  plan.pad_b = keeps != Keeps::b && keeps != Keeps::b_as_a && needs_copy(p.b, b_order);
  plan.swaps_ab = keeps == Keeps::b_as_a;
  result.keeps = keeps;
  const Copies copies = lay_out_copies(p, device, &plan);
  result.needed = copies.bytes;
  result.cost = copies.cost;
  return result;
}

// An array of fixed size: gemm() allocates no memory.
struct Ways {
  Way way[5];
  int count = 0;

  Way* begin() noexcept { return way; }
  Way* end() noexcept { return way + count; }
};

// The ways with copies that may be fastest.
//
// First the usual one: both operands with aligned rows. Kernels read operands of 16 bits and f64, and f32
// that they round, in either order, others with contiguous k only. Row-interleaved views keep a large A and
// copy a small B, which must not be contiguous along k. If B is the large operand, the swapped problem keeps
// it and copies C as well, provided that nothing but the product goes into C (beta == 0). The unaligned
// kernels have fewer tiles if A is aligned: for few rows of A it pays to copy A and to keep B, or the other
// way round.
Ways ways_with_copies(const Gemm& p, const DeviceDescription& device) noexcept {
  Ways result;
  const bool is_16_bit = bytes(p.a.type) == 2,
             takes_both_orders = is_16_bit || p.a.type == Type::f64 || p.precision != Precision::none;
  const auto add = [&](const Way& w) {
    if (w.needed != 0) result.way[result.count++] = w;
  };
  add(way(p, device, takes_both_orders ? p.a.order : row_major,
          takes_both_orders ? p.b.order : column_major));
  const auto any_ld = [&](const ConstMatrix& x, Order order) {
    return is_16_bit && x.order == order && begins_aligned(x) && copy_alignment(x) < 16;
  };
  if (any_ld(p.a, row_major)) add(way(p, device, row_major, row_major, Keeps::a));
  // The transposing copy reads C^T in chunks of 8 elements, which the kernel must have computed. Without a
  // copy of A, A may end inside a chunk.
  const bool whole_chunks = p.m % 8 == 0 || p.a.order != column_major || copy_alignment(p.a) < 16;
  if (any_ld(p.b, column_major) && p.beta == 0.0 && !needs_fused_epilogue(p) &&
      bytes(result_of(p).type) == 2 && whole_chunks)
    add(way(p, device, column_major, column_major, Keeps::b_as_a));
  if (is_16_bit && p.a.order == row_major && p.b.order == column_major) {
    add(way(p, device, row_major, column_major, Keeps::b));
    add(way(p, device, row_major, column_major, Keeps::a_unaligned));
  }
  return result;
}

// Whether a kernel that accepts the operands of a way is of the kind that the way is for. (A kernel with
// row-interleaved views of A may also read a copy of A. The way that keeps A costs less then.)
bool is_for(const Kernel& kernel, const Way& w) noexcept {
  switch (w.keeps) {
    case Keeps::nothing:
      return !kernel.unaligned;
    case Keeps::a:
    case Keeps::b_as_a:
      return kernel.row_interleaved;
    case Keeps::b:
      return kernel.unaligned && !kernel.swap_ab;
    case Keeps::a_unaligned:
      return kernel.unaligned && kernel.swap_ab;
  }
  return false;
}

// Of the kernels that the whole device could run, but have more CTAs than the call may use multiprocessors,
// the one with the fewest. nullptr if there is none.
const Kernel* smallest_on_whole_device(const std::vector<Kernel>& list, const Gemm& problem,
                                       const DeviceDescription& device) {
  if (!device.is_limited()) return nullptr;
  DeviceDescription whole = device;
  whole.multiprocessors = device.all_multiprocessors;
  whole.all_multiprocessors = 0;
  const Kernel* smallest = nullptr;
  for (const Kernel& kernel : list) {
    if (is_offered(kernel, problem) && may_be_chosen(kernel, problem) && accepts(kernel, problem, whole) &&
        least_ctas(kernel, problem) > device.multiprocessors &&
        (smallest == nullptr || least_ctas(kernel, problem) < least_ctas(*smallest, problem)))
      smallest = &kernel;
  }
  return smallest;
}

// The kernel that the problem names, or `tuned` (if it is not null and accepts the problem), or the choice
// among all kernels that were not refused. nullptr, and *why, if none computes the problem.
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
  // The sentence is that of a kernel for such operands, preferably of one that another device could run.
  *why = Status(StatusCode::unsupported,
                "this build has no kernel for %s inputs accumulated in %s, A %s, B %s", name(problem.a.type),
                name(problem.accumulate), problem.a.order == row_major ? "row-major" : "column-major",
                problem.b.order == row_major ? "row-major" : "column-major");
  if (const Kernel* const smallest = smallest_on_whole_device(list, problem, device)) {
    accepts(*smallest, problem, device, why);
    return nullptr;
  }
  bool is_first = true;
  for (const Kernel& kernel : list) {
    Status refusal;
    if (kernel.copy == Copy::module || !is_kind_of(kernel, problem) ||
        accepts(kernel, problem, device, &refusal)) {
      continue;
    }
    const bool is_of_the_device = refusal.code() == StatusCode::device_unsupported;
    if (is_first || is_of_the_device) *why = refusal;
    if (is_of_the_device) break;
    is_first = false;
  }
  return nullptr;
}

// The plan within the workspace of the problem, or (any_workspace) with as much workspace as helps, and the
// bytes of workspace that it uses.
Status plan_with(const std::vector<Kernel>& list, const Gemm& given, const DeviceDescription& device,
                 const RefusedKernels& refused, bool any_workspace, Plan* plan, std::size_t* used) {
  Gemm problem = with_unused_lds_aligned(given);
  if (any_workspace) problem.workspace_bytes = std::numeric_limits<std::size_t>::max();
  *plan = Plan{};
  *used = 0;
  Status why_not_direct, why_not_copied;
  // A tuning table is for the operands as the caller has them. It names a kernel, and does not decide whether
  // operands are copied.
  const Kernel* tuned = problem.kernel == nullptr ? tuned_kernel(list, problem, device) : nullptr;
  if (std::find(refused.begin(), refused.end(), tuned) != refused.end()) tuned = nullptr;
  const Kernel* direct = choose(list, problem, tuned, device, refused, &why_not_direct);

  Ways ways;
  if (direct == nullptr || padding_pays(problem)) ways = ways_with_copies(problem, device);
  // The choice depends on the alignment of the copies only: an address as aligned as theirs stands for each
  // of them, whether there is a workspace or not.
  alignas(256) char aligned = 0;
  Gemm with_workspace = problem;
  with_workspace.workspace = &aligned;
  const Way* best = nullptr;
  const Way* best_within = nullptr;
  for (Way& w : ways) {
    Plan at_its_start = w.plan;
    at_its_start.b_offset = at_its_start.c_offset = at_its_start.kernel_offset = 0;
    Gemm copied = planned_problem(with_workspace, at_its_start);
    copied.workspace_bytes -= std::min(copied.workspace_bytes, w.needed);
    w.plan.kernel = choose(list, copied, tuned, device, refused, &why_not_copied);
    if (w.plan.kernel == nullptr) {  // perhaps with more workspace, to say how much
      copied.workspace_bytes = std::numeric_limits<std::size_t>::max();
      w.plan.kernel = choose(list, copied, tuned, device, refused, &why_not_copied);
    }
    if (w.plan.kernel == nullptr) continue;
    if (!is_for(*w.plan.kernel, w)) continue;
    w.needed += w.plan.kernel->workspace_bytes(device);
    w.cost += estimated_cost(*w.plan.kernel, copied, device);
    const bool as_tuned = w.plan.kernel == tuned;  // goes before a lower cost
    const auto better = [&](const Way* than) {
      return than == nullptr || (as_tuned != (than->plan.kernel == tuned) ? as_tuned : w.cost < than->cost);
    };
    if (better(best)) best = &w;
    if (problem.workspace_bytes >= w.needed && better(best_within)) best_within = &w;
  }
  // A kernel for unaligned operands needs no copies if it is as fast as one with copies. But a kernel of the
  // tuning table comes first.
  const auto direct_is_better = [&](const Way& than) {
    if (direct == nullptr || !(direct->row_interleaved || direct->unaligned)) return false;
    if (tuned != nullptr && (direct == tuned) != (than.plan.kernel == tuned)) return direct == tuned;
    return estimated_cost(*direct, problem, device) <= than.cost;
  };
  if (best_within != nullptr && !direct_is_better(*best_within)) {
    *plan = best_within->plan;
    *used = best_within->needed;
    return {};
  }
  if (direct == nullptr && best != nullptr) {
    return Status(StatusCode::workspace_too_small,
                  "workspace_bytes is %zu but %s needs >= %zu here to copy operands into aligned rows",
                  problem.workspace_bytes, best->plan.kernel->name.c_str(), best->needed);
  }
  // A kernel that refuses even the aligned copies names the actual obstacle.
  if (direct == nullptr) return why_not_copied ? why_not_direct : why_not_copied;
  plan->kernel = direct;
  *used = direct->workspace_bytes(device);
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

double planned_cost(const Gemm& problem, const Plan& plan, const DeviceDescription& device) noexcept {
  Plan laid_out = plan;
  const Copies copies = lay_out_copies(with_unused_lds_aligned(problem), device, &laid_out);
  return copies.cost + estimated_cost(*plan.kernel, planned_problem(problem, plan), device);
}

}  // namespace tenon
