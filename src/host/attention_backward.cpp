// The host API of tenon/attention_backward.hpp on any launcher: validate, choose, launch. Every check comes
// before the first launch.
#include "tenon/attention_backward.hpp"

#include <new>

#include "attention/backward_kernels.hpp"
#include "host/attention_backward_on.hpp"
#include "host/cuda_launcher.hpp"
#include "host/validate_attention.hpp"
#include "tenon/attention/backward_launches.hpp"
#include "tenon/attention/check_backward_problem.hpp"

namespace tenon {
namespace {

// The first kernel of the list that takes the problem, or the one of that name. *kernel stays null where
// there is nothing to do.
Status choose(const AttentionBackwardProblem& problem, const DeviceDescription& device, const char* named,
              const AttentionBackwardKernel** kernel) {
  if (named != nullptr) {
    const AttentionBackwardKernel* const found = find_attention_backward_kernel(named);
    if (found == nullptr)
      return Status(StatusCode::invalid_argument, "no backward kernel of attention has the name '%.100s'",
                    named);
    if (is_empty(problem)) return {};
    if (const Status why = found->takes(problem, device); !why)
      return Status(why.code(), "%s does not take this problem: %s", named, why.message());
    *kernel = found;
    return {};
  }
  if (is_empty(problem)) return {};
  Status device_refuses;
  for (const AttentionBackwardKernel& candidate : attention_backward_kernels()) {
    const Status s = candidate.takes(problem, device);
    if (s) {
      *kernel = &candidate;
      return {};
    }
    if (s.code() == StatusCode::device_unsupported) device_refuses = s;
  }
  if (!device_refuses) return device_refuses;
  const AttentionProblem& p = problem.forward;
  return Status(StatusCode::unsupported,
                "no backward kernel of attention of this build takes %s with head dimensions %d and %d, %lld "
                "heads and a batch of %lld: tenon/attention.hpp lists what it takes",
                name(p.type), p.head_dimension, p.value_dimension, static_cast<long long>(p.heads),
                static_cast<long long>(p.batch));
}

Status find(Launcher& launcher, const AttentionBackwardProblem& problem, const char* named,
            DeviceDescription* device, const AttentionBackwardKernel** kernel) noexcept try {
  *kernel = nullptr;
  if (Status s = check_problem(problem); !s) return s;
  if (Status s = launcher.describe(device); !s) return s;
  return choose(problem, *device, named, kernel);
} catch (const std::bad_alloc&) {  // the kernel list is built on first use
  return Status(StatusCode::cuda_error, "no host memory is left for the list of kernels");
}

Status prepare(Launcher& launcher, const AttentionBackwardProblem& problem, const char* named,
               const AttentionBackwardKernel** kernel, BackwardLaunches* launches) noexcept {
  DeviceDescription device;
  if (Status s = find(launcher, problem, named, &device, kernel); !s || *kernel == nullptr) return s;
  const std::size_t needed = (*kernel)->workspace(problem, device);
  if (needed > 0) {
    if (problem.workspace == nullptr || problem.workspace_bytes < needed)
      return Status(
          StatusCode::invalid_argument, "the workspace has %zu bytes but %s needs %zu for this problem",
          problem.workspace == nullptr ? 0 : problem.workspace_bytes, (*kernel)->name.c_str(), needed);
    if (reinterpret_cast<std::uintptr_t>(problem.workspace) % 256 != 0)
      return Status(StatusCode::invalid_argument,
                    "the workspace is at %p but must be at a multiple of 256 bytes", problem.workspace);
  }
  if (Status s = validate(problem, needed); !s) return s;
  return (*kernel)->fill(**kernel, problem, device, launcher, launches);
}

}  // namespace

std::size_t workspace_size(Launcher& launcher, const AttentionBackwardProblem& problem,
                           const char* named) noexcept {
  DeviceDescription device;
  const AttentionBackwardKernel* kernel = nullptr;
  if (!find(launcher, problem, named, &device, &kernel) || kernel == nullptr) return 0;
  return kernel->workspace(problem, device);
}

Status can_implement(Launcher& launcher, const AttentionBackwardProblem& problem,
                     const char* named) noexcept {
  const AttentionBackwardKernel* kernel = nullptr;
  BackwardLaunches launches;
  return prepare(launcher, problem, named, &kernel, &launches);
}

const char* kernel_name(Launcher& launcher, const AttentionBackwardProblem& problem,
                        const char* named) noexcept {
  DeviceDescription device;
  const AttentionBackwardKernel* kernel = nullptr;
  return find(launcher, problem, named, &device, &kernel) && kernel != nullptr ? kernel->name.c_str()
                                                                               : nullptr;
}

Status attention_backward(Launcher& launcher, const AttentionBackwardProblem& problem,
                          const char* named) noexcept {
  const AttentionBackwardKernel* kernel = nullptr;
  BackwardLaunches launches;
  if (Status s = prepare(launcher, problem, named, &kernel, &launches); !s) return s;
  for (int i = 0; i < launches.count; ++i) {
    if (Status s = launcher.launch(launches.launch[i]); !s) return s;
  }
  return {};
}

std::size_t workspace_size(const AttentionBackwardProblem& problem, const char* kernel) noexcept {
  CudaLauncher launcher(nullptr);
  return workspace_size(launcher, problem, kernel);
}

Status can_implement(const AttentionBackwardProblem& problem, const char* kernel) noexcept {
  CudaLauncher launcher(nullptr);
  return can_implement(launcher, problem, kernel);
}

const char* kernel_name(const AttentionBackwardProblem& problem, const char* kernel) noexcept {
  CudaLauncher launcher(nullptr);
  return kernel_name(launcher, problem, kernel);
}

const char* attention_backward_kernel_name(int index) noexcept try {
  const auto& all = attention_backward_kernels();
  return index >= 0 && static_cast<std::size_t>(index) < all.size() ? all[index].name.c_str() : nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

Status attention_backward(const AttentionBackwardProblem& problem, CUstream_st* stream,
                          const char* kernel) noexcept {
  CudaLauncher launcher(stream);
  return attention_backward(launcher, problem, kernel);
}

}  // namespace tenon
