// The steps of gemm_steps.hpp.
#include "host/gemm_steps.hpp"

#include <new>

#include "gemm/epilogue_of_zero.hpp"
#include "gemm/pad.hpp"
#include "gemm/result.hpp"
#include "gemm/scale.hpp"
#include "host/plan_memory.hpp"
#include "host/validate.hpp"

namespace tenon {
namespace {

// Whether one of the products_to_run() of a problem multiplies parts in the workspace.
bool is_of_parts(const Gemm& problem, const Gemm& product) noexcept {
  return problem.precision != product.precision;
}

// make_plan() of the library's kernels, or what it said for this problem before (plan_memory.hpp).
Status plan_product(const Gemm& product, const DeviceDescription& device, Plan* plan) {
  if (recall_plan(product, device, plan)) return {};
  if (Status s = make_plan(kernels(), product, device, plan); !s) return s;
  remember_plan(product, device, *plan);
  return {};
}

bool copies_the_same(const Plan& x, const Plan& y) noexcept {
  return x.pad_a == y.pad_a && x.pad_b == y.pad_b && x.a_order == y.a_order && x.b_order == y.b_order;
}

// Launches the copies of a plan of a product and its kernel. The copies of *copied are in the workspace
// already, and are not made again; *copied becomes the plan whose copies are there. (The parts of the f32
// operands of `whole` are the same for every product and plan, which copies nothing else.)
Status run_plan(Launcher& launcher, const Gemm& whole, const Gemm& given, const DeviceDescription& device,
                const Plan& plan, Plan* copied) noexcept {
  const Gemm problem = with_unused_lds_aligned(given);
  const Gemm run = planned_problem(problem, plan);
  Launch product;
  if (Status s = plan.kernel->configure(run, device, launcher, &product); !s) return s;
  if (is_of_parts(whole, given) && copied->kernel == nullptr) {
    if (Status s = split_into_workspace(launcher, whole); !s) return s;
    *copied = plan;
  }
  PadCopy copies[most_pad_copies];
  int count = 0;
  const auto pad = [&](const ConstMatrix& from, Order order, const void* to, std::int64_t rows,
                       std::int64_t columns) {
    const bool by_rows = from.order == row_major;
    copies[count++] = {
        from.data,        by_rows ? rows : columns, by_rows ? columns : rows, from.ld, const_cast<void*>(to),
        bytes(from.type), from.order != order};
  };
  if (plan.pad_a) pad(problem.a, plan.a_order, plan.swaps_ab ? run.b.data : run.a.data, problem.m, problem.k);
  if (plan.pad_b) pad(problem.b, plan.b_order, plan.swaps_ab ? run.a.data : run.b.data, problem.k, problem.n);
  if (count != 0 && !copies_the_same(plan, *copied)) {
    if (Status s = pad_copies(launcher, copies, count); !s) return s;
    *copied = plan;
  }
  if (Status s = launcher.launch(product); !s || !plan.swaps_ab) return s;
  return transpose_to(launcher,
                      {result_of(run).data, problem.n, problem.m, result_of(run).ld, result_of(problem).data,
                       bytes(result_of(problem).type), true},
                      result_of(problem).ld);
}

// Runs a product of `whole` by its plan. If the device refuses a kernel, the next best one runs, and *plan
// becomes its plan, unless the caller named the kernel.
Status run_product(Launcher& launcher, const Gemm& whole, const Gemm& product,
                   const DeviceDescription& device, Plan* plan, Plan* copied) {
  RefusedKernels refused;
  Status first_refusal;
  while (true) {
    const Status s = run_plan(launcher, whole, product, device, *plan, copied);
    if (s.code() != StatusCode::device_unsupported || whole.kernel != nullptr) return s;
    if (refused.empty()) first_refusal = s;
    refused.push_back(plan->kernel);
    if (!make_plan(kernels(), product, device, plan, refused)) return first_refusal;
  }
}

// *plan: of the best kernel for a product whose launch can be put together, which is not launched yet.
Status plan_ahead(Launcher& launcher, const Gemm& product, const DeviceDescription& device, Plan* plan) {
  RefusedKernels refused;
  Status first_refusal;
  while (true) {
    if (Status s = make_plan(kernels(), product, device, plan, refused); !s)
      return refused.empty() ? s : first_refusal;
    Launch launch;
    const Gemm run = planned_problem(with_unused_lds_aligned(product), *plan);
    const Status s = plan->kernel->configure(run, device, launcher, &launch);
    if (s.code() != StatusCode::device_unsupported) return s;
    if (refused.empty()) first_refusal = s;
    refused.push_back(plan->kernel);
  }
}

// Adds the second of two products to the first, which has been launched. Should the device refuse every
// kernel for it, a kernel that promotes its accumulators computes it, as it has computed the first product:
// so C is not left with the first product alone.
Status run_second(Launcher& launcher, const Gemm& whole, Gemm product, const DeviceDescription& device,
                  Plan* plan, Plan* copied) {
  const Status s = run_product(launcher, whole, product, device, plan, copied);
  if (s.code() != StatusCode::device_unsupported) return s;
  product.promote = true;
  if (!make_plan(kernels(), product, device, plan)) return s;
  return run_product(launcher, whole, product, device, plan, copied);
}

}  // namespace

Work work_of(const Gemm& p) noexcept {
  if (p.m == 0 || p.n == 0) return Work::nothing;
  if (p.k != 0 && p.alpha != 0.0) return Work::product;
  if (needs_fused_epilogue(p)) return Work::epilogue;
  return p.beta == 1.0 ? Work::nothing : Work::scale;
}

// A name that no kernel has is an error even if there is nothing to compute.
Status check_kernel_name(const Gemm& problem) {
  if (problem.kernel == nullptr || find_kernel(problem.kernel) != nullptr) return {};
  return Status(StatusCode::invalid_argument,
                "no kernel has the name '%.100s': `tenon list` prints the names that exist", problem.kernel);
}

Status validate_without_pointers(Gemm* problem) noexcept {
  alignas(256) static char somewhere[2][256];  // C apart from D
  bool complete = true;
  const auto stand_in = [&](auto& matrix, int place = 0) {
    if (matrix.data != nullptr) return;
    matrix.data = somewhere[place];
    complete = false;
  };
  stand_in(problem->a);
  stand_in(problem->b);
  stand_in(result_of(*problem));
  if (has_d(*problem) && problem->beta != 0.0) stand_in(problem->c, 1);
  return complete ? validate(*problem) : validate_shape(*problem);
}

Status decide(Launcher& launcher, const Gemm& problem, GemmDecision* decision) noexcept {
  if (Status s = validate(problem); !s) return s;
  return decide_validated(launcher, problem, decision);
}

Status decide_validated(Launcher& launcher, const Gemm& problem, GemmDecision* decision) noexcept try {
  if (Status s = check_kernel_name(problem); !s) return s;
  decision->work = work_of(problem);
  if (decision->work == Work::nothing) return {};
  if (Status s = launcher.describe(&decision->device); !s) return s;
  if (decision->work != Work::product) return {};
  decision->products = products_to_run(problem, decision->device);
  const Gemm& first = decision->products.product[0];
  const Status planned = plan_product(first, decision->device, &decision->plan[0]);
  return planned && is_of_parts(problem, first) ? check_parts_workspace(problem) : planned;
} catch (const std::bad_alloc&) {  // the kernel list is built on first use
  return Status(StatusCode::cuda_error, "no host memory is left for the list of kernels");
}

Status run(Launcher& launcher, const Gemm& problem, GemmDecision* decision) noexcept try {
  switch (decision->work) {
    case Work::nothing:
      return {};
    case Work::scale:
      return scale_c(launcher, problem);
    case Work::epilogue:
      return epilogue_of_zero(launcher, problem);
    case Work::product:
      break;
  }
  const DeviceDescription& device = decision->device;
  const Products& products = decision->products;
  Plan copied;
  if (products.count > 1 && decision->plan[1].kernel == nullptr) {
    if (Status s = plan_ahead(launcher, products.product[1], device, &decision->plan[1]); !s) return s;
  }
  if (Status s = run_product(launcher, problem, products.product[0], device, &decision->plan[0], &copied); !s)
    return s;
  if (products.count == 1) return {};
  return run_second(launcher, problem, products.product[1], device, &decision->plan[1], &copied);
} catch (const std::bad_alloc&) {
  return Status(StatusCode::cuda_error, "no host memory is left to choose another kernel");
}

}  // namespace tenon
