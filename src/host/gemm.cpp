// The host API of tenon/gemm.hpp on any launcher, that is on a GPU or in the emulator: validate, plan,
// launch. Every check comes before the first launch.
#include "tenon/gemm.hpp"

#include <new>

#include "gemm/epilogue_of_zero.hpp"
#include "gemm/kernel.hpp"
#include "gemm/pad.hpp"
#include "gemm/result.hpp"
#include "gemm/scale.hpp"
#include "host/cuda_launcher.hpp"
#include "host/gemm_on.hpp"
#include "host/plan.hpp"
#include "host/precision.hpp"
#include "host/validate.hpp"

namespace tenon {
namespace {

// What gemm() has to do: nothing, scale C, apply the epilogue to a product of zeros, or run a plan.
enum class Work { nothing, scale, epilogue, product };

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

// Whether the problem is valid. Each null pointer is replaced by an address as aligned as those of
// cudaMalloc, since workspace_size() may be called before anything is allocated. Before a launch only the
// alignment of an address matters.
bool is_askable(Gemm* problem) noexcept {
  alignas(256) static char somewhere[1];
  bool complete = true;
  const auto stand_in = [&](auto& matrix) {
    if (matrix.data != nullptr) return;
    matrix.data = somewhere;
    complete = false;
  };
  stand_in(problem->a);
  stand_in(problem->b);
  stand_in(result_of(*problem));
  if (has_d(*problem) && problem->beta != 0.0) stand_in(problem->c);
  return static_cast<bool>(complete ? validate(*problem) : validate_shape(*problem));
}

// Whether one of the products_to_run() of a problem multiplies parts in the workspace.
bool is_of_parts(const Gemm& problem, const Gemm& product) noexcept {
  return problem.precision != product.precision;
}

// *plan: of the first product.
Status prepare(Launcher& launcher, const Gemm& problem, DeviceDescription* device, Work* work,
               Products* products, Plan* plan) noexcept try {
  if (Status s = validate(problem); !s) return s;
  if (Status s = check_kernel_name(problem); !s) return s;
  *work = work_of(problem);
  if (*work == Work::nothing) return {};
  if (Status s = launcher.describe(device); !s) return s;
  if (*work != Work::product) return {};
  *products = products_to_run(problem, *device);
  const Status planned = make_plan(kernels(), products->product[0], *device, plan);
  return planned && is_of_parts(problem, products->product[0]) ? check_parts_workspace(problem) : planned;
} catch (const std::bad_alloc&) {  // the kernel list is built on first use
  return Status(StatusCode::cuda_error, "no host memory is left for the list of kernels");
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

// Runs a product of `whole` by its plan. If the device refuses a kernel, the next best one runs, unless the
// caller named the kernel.
Status run_product(Launcher& launcher, const Gemm& whole, const Gemm& product,
                   const DeviceDescription& device, Plan plan, Plan* copied) {
  RefusedKernels refused;
  Status first_refusal;
  while (true) {
    const Status s = run_plan(launcher, whole, product, device, plan, copied);
    if (s.code() != StatusCode::device_unsupported || whole.kernel != nullptr) return s;
    if (refused.empty()) first_refusal = s;
    refused.push_back(plan.kernel);
    if (!make_plan(kernels(), product, device, &plan, refused)) return first_refusal;
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
                  const Plan& plan, Plan* copied) {
  const Status s = run_product(launcher, whole, product, device, plan, copied);
  if (s.code() != StatusCode::device_unsupported) return s;
  product.promote = true;
  Plan promoting;
  if (!make_plan(kernels(), product, device, &promoting)) return s;
  return run_product(launcher, whole, product, device, promoting, copied);
}

}  // namespace

Status can_implement(Launcher& launcher, const Gemm& problem) noexcept {
  DeviceDescription device;
  Work work = Work::nothing;
  Products products;
  Plan plan;
  return prepare(launcher, problem, &device, &work, &products, &plan);
}

std::size_t workspace_size(Launcher& launcher, const Gemm& problem) noexcept try {
  Gemm asked = problem;  // the answer does not depend on the workspace that the problem has
  asked.workspace = nullptr;
  asked.workspace_bytes = 0;
  DeviceDescription device;
  if (!is_askable(&asked) || !check_kernel_name(asked) || work_of(asked) != Work::product ||
      !launcher.describe(&device)) {
    return 0;
  }
  if (asked.precision == Precision::none) return planned_workspace(kernels(), asked, device);
  if (rounds_while_loading(asked, device, true)) return 0;
  Plan plan;
  return make_plan(kernels(), product_of_parts(asked), device, &plan) ? parts_bytes(asked) : 0;
} catch (const std::bad_alloc&) {
  return 0;
}

const char* kernel_name(Launcher& launcher, const Gemm& problem) noexcept {
  DeviceDescription device;
  Work work = Work::nothing;
  Products products;
  Plan plan;
  if (!prepare(launcher, problem, &device, &work, &products, &plan) || work != Work::product) return nullptr;
  return plan.kernel->name.c_str();
}

Status gemm(Launcher& launcher, const Gemm& problem) noexcept try {
  DeviceDescription device;
  Work work = Work::nothing;
  Products products;
  Plan plan;
  if (Status s = prepare(launcher, problem, &device, &work, &products, &plan); !s) return s;
  if (work == Work::nothing) return {};
  if (work == Work::scale) return scale_c(launcher, problem);
  if (work == Work::epilogue) return epilogue_of_zero(launcher, problem);

  Plan second, copied;
  if (products.count > 1) {
    if (Status s = plan_ahead(launcher, products.product[1], device, &second); !s) return s;
  }
  if (Status s = run_product(launcher, problem, products.product[0], device, plan, &copied); !s) return s;
  if (products.count == 1) return {};
  return run_second(launcher, problem, products.product[1], device, second, &copied);
} catch (const std::bad_alloc&) {
  return Status(StatusCode::cuda_error, "no host memory is left to choose another kernel");
}

Status can_implement(const Gemm& problem) noexcept {
  CudaLauncher launcher(nullptr);
  return can_implement(launcher, problem);
}

std::size_t workspace_size(const Gemm& problem) noexcept {
  CudaLauncher launcher(nullptr);
  return workspace_size(launcher, problem);
}

const char* kernel_name(const Gemm& problem) noexcept {
  CudaLauncher launcher(nullptr);
  return kernel_name(launcher, problem);
}

Status gemm(const Gemm& problem, CUstream_st* stream) noexcept {
  CudaLauncher launcher(stream);
  return gemm(launcher, problem);
}

}  // namespace tenon
