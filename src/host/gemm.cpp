// The host API of tenon/gemm.hpp: validate, plan, launch. Nothing is launched before everything has been
// checked.
#include "tenon/gemm.hpp"

#include <new>

#include "gemm/kernel.hpp"
#include "gemm/pad.hpp"
#include "gemm/scale.hpp"
#include "host/device.hpp"
#include "host/plan.hpp"
#include "host/validate.hpp"

namespace tenon {
namespace {

// What gemm() will do: nothing, scale C, or run a plan.
enum class Work { nothing, scale, product };

Work work_of(const Gemm& p) noexcept {
  if (p.m == 0 || p.n == 0) return Work::nothing;
  if (p.k == 0 || p.alpha == 0.0F) return p.beta == 1.0F ? Work::nothing : Work::scale;
  return Work::product;
}

// A name that no kernel has is a mistake even where there is nothing to do.
Status check_kernel_name(const Gemm& problem) {
  if (problem.kernel == nullptr || find_kernel(problem.kernel) != nullptr) return {};
  return Status(StatusCode::invalid_argument,
                "no kernel has the name '%.100s': `tenon list` prints the names that exist", problem.kernel);
}

Status prepare(const Gemm& problem, Work* work, Plan* plan) noexcept try {
  if (Status s = validate(problem); !s) return s;
  if (Status s = check_kernel_name(problem); !s) return s;
  *work = work_of(problem);
  if (*work == Work::nothing) return {};
  DeviceDescription device;
  if (Status s = describe_current_device(&device); !s) return s;
  return *work == Work::scale ? Status() : make_plan(kernels(), problem, device, plan);
} catch (const std::bad_alloc&) {  // the kernel list is built on first use
  return Status(StatusCode::cuda_error, "no host memory is left for the list of kernels");
}

}  // namespace

Status can_implement(const Gemm& problem) noexcept {
  Work work = Work::nothing;
  Plan plan;
  return prepare(problem, &work, &plan);
}

std::size_t workspace_size(const Gemm& problem) noexcept try {
  Gemm without = problem;  // the question is what workspace to bring: the one brought does not matter
  without.workspace = nullptr;
  without.workspace_bytes = 0;
  DeviceDescription device;
  if (!validate(without) || !check_kernel_name(without) || work_of(without) != Work::product ||
      !describe_current_device(&device)) {
    return 0;
  }
  return planned_workspace(kernels(), without, device);
} catch (const std::bad_alloc&) {
  return 0;
}

const char* kernel_name(const Gemm& problem) noexcept {
  Work work = Work::nothing;
  Plan plan;
  if (!prepare(problem, &work, &plan) || work != Work::product) return nullptr;
  return plan.kernel->name.c_str();
}

Status gemm(const Gemm& problem, CUstream_st* stream) noexcept {
  Work work = Work::nothing;
  Plan plan;
  if (Status s = prepare(problem, &work, &plan); !s) return s;
  if (work == Work::nothing) return {};
  if (work == Work::scale) return scale_c(problem, stream);

  const Gemm run = planned_problem(problem, plan);
  PadCopy copies[most_pad_copies];
  int count = 0;
  const auto pad = [&](const ConstMatrix& from, const ConstMatrix& to, std::int64_t rows,
                       std::int64_t columns) {
    const bool by_rows = from.order == row_major;
    copies[count++] = {from.data, by_rows ? rows : columns, by_rows ? columns : rows, from.ld,
                       const_cast<void*>(to.data)};
  };
  if (plan.pad_a) pad(problem.a, run.a, problem.m, problem.k);
  if (plan.pad_b) pad(problem.b, run.b, problem.k, problem.n);
  if (Status s = pad_copies(copies, count, stream); !s) return s;
  return plan.kernel->launch(*plan.kernel, run, stream);
}

}  // namespace tenon
