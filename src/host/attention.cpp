// The host API of tenon/attention.hpp on any launcher: validate, choose, launch. Every check comes before the
// launch.
#include "tenon/attention.hpp"

#include <new>

#include "attention/kernels.hpp"
#include "host/attention_on.hpp"
#include "host/cuda_launcher.hpp"
#include "host/validate_attention.hpp"
#include "tenon/attention/check_problem.hpp"

namespace tenon {
namespace {

// The kernel that goes first, or else the first of the list that takes the problem. Where none does, the last
// reason of a kernel for its type and head dimensions is the sentence, or that there is none.
Status choose(const AttentionProblem& problem, const DeviceDescription& device,
              const AttentionKernel** kernel) {
  for (const AttentionKernel& candidate : attention_kernels()) {
    if (candidate.goes_first == nullptr || !candidate.takes(problem, device)) continue;
    if (!candidate.goes_first(problem, device)) continue;
    *kernel = &candidate;
    return {};
  }
  Status device_refuses, reason;
  for (const AttentionKernel& candidate : attention_kernels()) {
    const Status s = candidate.takes(problem, device);
    if (s && candidate.suits != nullptr && !candidate.suits(problem, device)) continue;
    if (s) {
      *kernel = &candidate;
      return {};
    }
    if (s.code() == StatusCode::device_unsupported) device_refuses = s;
    if (candidate.is_for(problem)) reason = s;
  }
  if (!device_refuses) return device_refuses;
  if (!reason) return reason;
  return Status(StatusCode::unsupported,
                "no attention kernel of this build takes %s with head dimensions %d and %d, %lld heads and a "
                "batch of %lld: tenon/attention.hpp lists what it takes",
                name(problem.type), problem.head_dimension, problem.value_dimension,
                static_cast<long long>(problem.heads), static_cast<long long>(problem.batch));
}

// The kernel of a problem that check_problem() takes. *kernel stays null where there is nothing to do.
Status find(Launcher& launcher, const AttentionProblem& problem, const char* named,
            const AttentionKernel** kernel, DeviceDescription* device) {
  *kernel = nullptr;
  const AttentionKernel* found = nullptr;
  if (named != nullptr) {
    found = find_attention_kernel(named);
    if (found == nullptr)
      return Status(StatusCode::invalid_argument, "no attention kernel has the name '%.100s'", named);
  }
  if (is_empty(problem)) return {};
  if (Status s = launcher.describe(device); !s) return s;
  if (found == nullptr) {
    if (Status s = choose(problem, *device, &found); !s) return s;
  } else if (const Status why = found->takes(problem, *device); !why) {
    return Status(why.code(), "%s does not take this problem: %s", named, why.message());
  }
  *kernel = found;
  return {};
}

// Of a problem: that of its kernel and, where the keys are split, one that merges the splits.
struct Launches {
  Launch attention, combine;
  bool combines = false;
};

// The launches of a problem. *kernel stays null where there is nothing to do.
Status prepare(Launcher& launcher, const AttentionProblem& problem, const char* named,
               const AttentionKernel** kernel, Launches* launches) noexcept try {
  *kernel = nullptr;
  if (Status s = validate(problem); !s) return s;
  const AttentionKernel* found = nullptr;
  DeviceDescription device;
  if (Status s = find(launcher, problem, named, &found, &device); !s || found == nullptr) return s;
  const std::size_t needed = found->workspace_bytes(problem, device);
  if (Status s = validate_workspace(problem, needed); !s) return s;
  if (Status s = found->configure(problem, device, launcher, &launches->attention); !s) return s;
  launches->combines = needed > 0 && problem.workspace != nullptr;
  if (launches->combines) {
    launches->combine.ptx = found->ptx.c_str();
    found->combine(problem, device, &launches->combine);
  }
  *kernel = found;
  return {};
} catch (const std::bad_alloc&) {  // the kernel list is built on first use
  return Status(StatusCode::cuda_error, "no host memory is left for the list of kernels");
}

}  // namespace

Status can_implement(Launcher& launcher, const AttentionProblem& problem, const char* named) noexcept {
  const AttentionKernel* kernel = nullptr;
  Launches launches;
  return prepare(launcher, problem, named, &kernel, &launches);
}

const char* kernel_name(Launcher& launcher, const AttentionProblem& problem, const char* named) noexcept {
  const AttentionKernel* kernel = nullptr;
  Launches launches;
  return prepare(launcher, problem, named, &kernel, &launches) && kernel != nullptr ? kernel->name.c_str()
                                                                                    : nullptr;
}

std::size_t workspace_size(Launcher& launcher, const AttentionProblem& problem, const char* named) noexcept
    try {
  AttentionProblem p = problem;
  // Offsets and tables that are said to be there count as tensors do: nothing is read through them.
  const auto* const words = reinterpret_cast<const std::int32_t*>(256);  // NOLINT(performance-no-int-to-ptr)
  if (p.query_rows > 0 && p.query_offsets == nullptr) p.query_offsets = words;
  if (p.key_rows > 0 && p.key_offsets == nullptr) p.key_offsets = words;
  if (p.pages.page_size > 0 && p.pages.table == nullptr) p.pages.table = words;
  const auto place = [](auto* tensor) {
    if (tensor->data == nullptr)
      tensor->data = reinterpret_cast<void*>(256);  // NOLINT(performance-no-int-to-ptr)
  };
  place(&p.q), place(&p.k), place(&p.v), place(&p.o);
  p.workspace = reinterpret_cast<void*>(256);  // NOLINT(performance-no-int-to-ptr): of the choice with one
  const AttentionKernel* kernel = nullptr;
  DeviceDescription device;
  if (!check_problem(p) || !find(launcher, p, named, &kernel, &device) || kernel == nullptr) return 0;
  return kernel->workspace_bytes(p, device);
} catch (const std::bad_alloc&) {
  return 0;
}

Status attention(Launcher& launcher, const AttentionProblem& problem, const char* named) noexcept {
  const AttentionKernel* kernel = nullptr;
  Launches launches;
  if (Status s = prepare(launcher, problem, named, &kernel, &launches); !s || kernel == nullptr) return s;
  if (Status s = launcher.launch(launches.attention); !s || !launches.combines) return s;
  return launcher.launch(launches.combine);
}

Status can_implement(const AttentionProblem& problem, const char* kernel) noexcept {
  CudaLauncher launcher(nullptr);
  return can_implement(launcher, problem, kernel);
}

const char* kernel_name(const AttentionProblem& problem, const char* kernel) noexcept {
  CudaLauncher launcher(nullptr);
  return kernel_name(launcher, problem, kernel);
}

std::size_t workspace_size(const AttentionProblem& problem, const char* kernel) noexcept {
  CudaLauncher launcher(nullptr);
  return workspace_size(launcher, problem, kernel);
}

const char* attention_kernel_name(int index) noexcept try {
  const auto& all = attention_kernels();
  return index >= 0 && static_cast<std::size_t>(index) < all.size() ? all[index].name.c_str() : nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

Status attention(const AttentionProblem& problem, CUstream_st* stream, const char* kernel) noexcept {
  CudaLauncher launcher(stream);
  return attention(launcher, problem, kernel);
}

}  // namespace tenon
