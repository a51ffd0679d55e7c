// The host API of tenon/gemm_grouped.hpp on any launcher, that is on a GPU or in the emulator: validate,
// choose, plan, launch.
#include "tenon/gemm_grouped.hpp"

#include <new>

#include "gemm/grouped.hpp"
#include "host/cuda_launcher.hpp"
#include "host/gemm_grouped_on.hpp"
#include "host/options_of.hpp"
#include "host/validate_grouped.hpp"

namespace tenon {
namespace {

// *kernel: null if there is nothing to compute.
Status prepare(Launcher& launcher, const GroupedGemm& problem, DeviceDescription* device,
               const GroupedKernel** kernel) noexcept try {
  *kernel = nullptr;
  if (Status s = validate(problem); !s) return s;
  if (problem.groups == 0 || problem.m == 0 || problem.n == 0) return {};
  if (problem.beta == 1.0F && (problem.k == 0 || problem.alpha == 0.0F)) return {};
  if (Status s = launcher.describe(device); !s) return s;
  if (device->sm != 90)
    return Status(StatusCode::device_unsupported, "grouped products need sm_90a but the device is sm_%d",
                  device->sm);
  Status why;
  *kernel = choose_grouped(grouped_kernels(), problem, *device, &why);
  return why;
} catch (const std::bad_alloc&) {  // the kernel list is built on first use
  return Status(StatusCode::cuda_error, "no host memory is left for the list of kernels");
}

}  // namespace

Status can_implement(Launcher& given, const GroupedGemm& problem) noexcept {
  LimitedLauncher launcher(given, options_of(problem));
  DeviceDescription device;
  const GroupedKernel* kernel = nullptr;
  return prepare(launcher, problem, &device, &kernel);
}

const char* kernel_name(Launcher& given, const GroupedGemm& problem) noexcept {
  LimitedLauncher launcher(given, options_of(problem));
  DeviceDescription device;
  const GroupedKernel* kernel = nullptr;
  return prepare(launcher, problem, &device, &kernel) && kernel != nullptr ? kernel->name.c_str() : nullptr;
}

Status gemm_grouped(Launcher& given, const GroupedGemm& problem) noexcept {
  LimitedLauncher launcher(given, options_of(problem));
  DeviceDescription device;
  const GroupedKernel* kernel = nullptr;
  if (Status s = prepare(launcher, problem, &device, &kernel); !s || kernel == nullptr) return s;
  Launch launch;
  launch.what = kernel->name.c_str();
  launch.ptx = kernel->ptx;
  if (Status s = kernel->fill(problem, device, launcher, &launch); !s) return s;
  return launcher.launch(launch);
}

const char* grouped_kernel_name(int index) noexcept try {
  const auto& list = grouped_kernels();
  return index >= 0 && index < static_cast<int>(list.size())
             ? list[static_cast<std::size_t>(index)].name.c_str()
             : nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

Status can_implement(const GroupedGemm& problem) noexcept {
  CudaLauncher launcher(nullptr);
  return can_implement(launcher, problem);
}

const char* kernel_name(const GroupedGemm& problem) noexcept {
  CudaLauncher launcher(nullptr);
  return kernel_name(launcher, problem);
}

Status gemm_grouped(const GroupedGemm& problem, CUstream_st* stream) noexcept {
  CudaLauncher launcher(stream);
  return gemm_grouped(launcher, problem);
}

}  // namespace tenon
