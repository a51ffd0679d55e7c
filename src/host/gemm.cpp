// The host API of tenon/gemm.hpp on any launcher, that is on a GPU or in the emulator. Below: gemm_steps.hpp.
#include "tenon/gemm.hpp"

#include <new>

#include "host/cuda_launcher.hpp"
#include "host/gemm_on.hpp"
#include "host/gemm_steps.hpp"
#include "host/options_of.hpp"

namespace tenon {
Status can_implement(Launcher& given, const Gemm& problem) noexcept {
  LimitedLauncher launcher(given, options_of(problem));
  GemmDecision decision;
  return decide(launcher, problem, &decision);
}

std::size_t workspace_size(Launcher& given, const Gemm& problem) noexcept try {
  LimitedLauncher launcher(given, options_of(problem));
  Gemm asked = problem;  // the answer does not depend on the workspace that the problem has
  asked.workspace = nullptr;
  asked.workspace_bytes = 0;
  DeviceDescription device;
  if (!validate_without_pointers(&asked) || !check_kernel_name(asked) || work_of(asked) != Work::product ||
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

const char* kernel_name(Launcher& given, const Gemm& problem) noexcept {
  LimitedLauncher launcher(given, options_of(problem));
  GemmDecision decision;
  if (!decide(launcher, problem, &decision) || decision.work != Work::product) return nullptr;
  return decision.plan[0].kernel->name.c_str();
}

Status gemm(Launcher& given, const Gemm& problem) noexcept {
  LimitedLauncher launcher(given, options_of(problem));
  GemmDecision decision;
  if (Status s = decide(launcher, problem, &decision); !s) return s;
  return run(launcher, problem, &decision);
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
