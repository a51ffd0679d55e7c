#include "gemm/module/module.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "gemm/result.hpp"

namespace tenon {
namespace {

constexpr int tile_m = 128, tile_n = 128, tile_k = 32, stages = 4, threads = 128;
constexpr unsigned shared_bytes = stages * (tile_m + tile_n) * tile_k * 2;
static_assert(shared_bytes == sizeof(float) * tile_m * tile_n,
              "the f32 tile of C takes the place of the ring");

// The driver functions used, by the versions that introduced them. They come from the runtime: no link to
// libcuda, so that the library loads on machines without a driver.
struct Driver {
  PFN_cuInit_v2000 init = nullptr;
  PFN_cuGetErrorString_v6000 error_string = nullptr;
  PFN_cuCtxGetCurrent_v4000 current_context = nullptr;
  PFN_cuCtxGetDevice_v2000 context_device = nullptr;
  PFN_cuLibraryLoadData_v12000 load_library = nullptr;
  PFN_cuLibraryGetKernel_v12000 library_kernel = nullptr;
  PFN_cuKernelGetAttribute_v12000 attribute = nullptr;
  PFN_cuKernelSetAttribute_v12000 set_attribute = nullptr;
  PFN_cuLaunchKernel_v4000 launch = nullptr;
};

template <class Function>
Status find_function(const char* symbol, unsigned version, Function& function) noexcept {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(symbol, &address, version, cudaEnableDefault, &found);
  if (error != cudaSuccess) {
    return Status(StatusCode::device_unsupported, "the PTX module needs a CUDA driver: %s",
                  cudaGetErrorString(error));
  }
  if (found != cudaDriverEntryPointSuccess || address == nullptr) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    return Status(StatusCode::device_unsupported,
                  "the PTX module needs %s of CUDA driver %u.%u but the driver is %d.%d", symbol,
                  version / 1000, version % 1000 / 10, driver / 1000, driver % 1000 / 10);
  }
  function = reinterpret_cast<Function>(address);
  return Status();
}

Status find_driver(Driver& driver) noexcept {
  Status status;
  const auto find = [&status](const char* symbol, unsigned version, auto& function) {
    if (status) status = find_function(symbol, version, function);
  };
  find("cuInit", 2000, driver.init);
  find("cuGetErrorString", 6000, driver.error_string);
  find("cuCtxGetCurrent", 4000, driver.current_context);
  find("cuCtxGetDevice", 2000, driver.context_device);
  find("cuLibraryLoadData", 12000, driver.load_library);
  find("cuLibraryGetKernel", 12000, driver.library_kernel);
  find("cuKernelGetAttribute", 12000, driver.attribute);
  find("cuKernelSetAttribute", 12000, driver.set_attribute);
  find("cuLaunchKernel", 4000, driver.launch);
  return status;
}

// The module, loaded once in the process for every device and context. Never unloaded: at exit the driver may
// be gone before us. The logs live as long, since the driver may compile only when a device first needs the
// kernel.
class Module {
 public:
  static const Module& instance() noexcept {
    static const Module module;
    return module;
  }

  // ok, or why the module cannot be used in this process.
  const Status& status() const noexcept { return status_; }
  const Driver& driver() const noexcept { return driver_; }
  CUkernel kernel() const noexcept { return kernel_; }

  // The sentence for a driver call that failed, with the first line of the JIT log if there is one.
  Status failure(const char* call, CUresult result) const noexcept {
    const char* text = nullptr;
    if (driver_.error_string(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
    const int line = static_cast<int>(std::min<std::size_t>(std::strcspn(error_log_, "\n"), 120));
    return Status(StatusCode::cuda_error, "PTX module: %s: %s (%d)%s%.*s", call, text,
                  static_cast<int>(result), line > 0 ? ": " : "", line, error_log_);
  }

 private:
  Module() noexcept : status_(find_driver(driver_)) {
    if (!status_) return;
    if (const CUresult result = driver_.init(0); result != CUDA_SUCCESS) {
      status_ = failure("cuInit", result);
      return;
    }
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    // The driver takes a number in place of the pointer that other options have.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    void* log_bytes = reinterpret_cast<void*>(std::uintptr_t{sizeof error_log_ - 1});
    void* values[] = {error_log_, log_bytes};
    CUlibrary library = nullptr;
    if (const CUresult result =
            driver_.load_library(&library, module_text, options, values, 2, nullptr, nullptr, 0);
        result != CUDA_SUCCESS) {
      status_ = failure("cuLibraryLoadData", result);
      return;
    }
    if (const CUresult result = driver_.library_kernel(&kernel_, library, module_symbol);
        result != CUDA_SUCCESS) {
      status_ = failure("cuLibraryGetKernel", result);
    }
  }

  Driver driver_;
  char error_log_[1024] = {};
  CUkernel kernel_ = nullptr;
  Status status_;  // last: its initialiser fills driver_
};

// The device of the current context; makes the runtime's context current first where a thread has none yet.
Status current_device(const Module& module, CUdevice& device) noexcept {
  CUcontext context = nullptr;
  if (const CUresult result = module.driver().current_context(&context); result != CUDA_SUCCESS) {
    return module.failure("cuCtxGetCurrent", result);
  }
  if (context == nullptr) {
    int ordinal = 0;
    cudaError_t error = cudaGetDevice(&ordinal);
    if (error == cudaSuccess) error = cudaSetDevice(ordinal);
    if (error != cudaSuccess) {
      return Status(StatusCode::cuda_error, "PTX module: cudaSetDevice: %s", cudaGetErrorString(error));
    }
  }
  if (const CUresult result = module.driver().context_device(&device); result != CUDA_SUCCESS) {
    return module.failure("cuCtxGetDevice", result);
  }
  return Status();
}

bool copies_16_bytes(const ConstMatrix& matrix) noexcept {
  return reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0 && matrix.ld % 8 == 0;
}

// Whether the problem is one for this kernel. The caller has validated it as a problem.
Status check(const Kernel& self, const Gemm& problem) noexcept {
  if (problem.a.type != Type::f16 || problem.b.type != Type::f16 || result_of(problem).type != Type::f16 ||
      problem.accumulate != Type::f32) {
    return Status(
        StatusCode::unsupported,
        "%s computes f16 x f16 -> f16 with f32 accumulation but the problem is %s x %s -> %s with %s",
        self.name.c_str(), name(problem.a.type), name(problem.b.type), name(result_of(problem).type),
        name(problem.accumulate));
  }
  if (problem.a.order != row_major || problem.b.order != column_major) {
    return Status(StatusCode::unsupported, "%s needs row-major A and column-major B but A is %s and B is %s",
                  self.name.c_str(), problem.a.order == row_major ? "row-major" : "column-major",
                  problem.b.order == row_major ? "row-major" : "column-major");
  }
  if (problem.k > 0 && problem.alpha != 0.0 && !(copies_16_bytes(problem.a) && copies_16_bytes(problem.b))) {
    return Status(
        StatusCode::unsupported,
        "%s needs A and B 16-byte aligned with lda and ldb multiples of 8 but A is at %p with lda %lld, "
        "B at %p with ldb %lld",
        self.name.c_str(), problem.a.data, static_cast<long long>(problem.a.ld), problem.b.data,
        static_cast<long long>(problem.b.ld));
  }
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  const std::int64_t size = std::max({problem.m, problem.n, problem.k});
  if (size > largest) {
    return Status(StatusCode::unsupported, "%s needs m, n, k <= %lld but one is %lld", self.name.c_str(),
                  static_cast<long long>(largest), static_cast<long long>(size));
  }
  return Status();
}

std::int64_t blocks(const Gemm& problem) noexcept {
  return ((problem.m + tile_m - 1) / tile_m) * ((problem.n + tile_n - 1) / tile_n);
}

Status fill(const Kernel& self, const Gemm& problem, const DeviceDescription&, Launcher&, Launch* launch) {
  if (Status status = check(self, problem); !status) return status;
  launch->entry = module_symbol;
  launch->grid.x = static_cast<unsigned>(blocks(problem));
  // The product vanishes if alpha is zero, whatever A and B hold, and if k is, whatever alpha is.
  const bool product = problem.k > 0 && problem.alpha != 0.0;
  // In the order and of the types of the parameters of the .entry.
  launch->arguments.set(problem.a.data, problem.b.data, result_of(problem).data, problem.a.ld, problem.b.ld,
                        result_of(problem).ld, static_cast<std::uint32_t>(problem.m),
                        static_cast<std::uint32_t>(problem.n),
                        product ? static_cast<std::uint32_t>(problem.k) : 0U,
                        product ? static_cast<float>(problem.alpha) : 0.0F, static_cast<float>(problem.beta));
  return Status();
}

}  // namespace

Status launch_module(const Launch& launch, CUstream_st* stream) noexcept {
  const Module& module = Module::instance();
  if (!module.status()) return module.status();
  CUdevice device = 0;
  if (Status status = current_device(module, device); !status) return status;
  // Per device, and cheap: asked for at every launch rather than remembered.
  if (const CUresult result =
          module.driver().set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        static_cast<int>(launch.shared_bytes), module.kernel(), device);
      result != CUDA_SUCCESS) {
    return module.failure("cuKernelSetAttribute", result);
  }
  void* parameters[LaunchArguments::most];
  for (int i = 0; i < launch.arguments.count(); ++i)
    parameters[i] = const_cast<void*>(launch.arguments.data(i));
  // The driver takes a CUkernel where it takes a function of the current context.
  if (const CUresult result = module.driver().launch(
          reinterpret_cast<CUfunction>(module.kernel()), launch.grid.x, launch.grid.y, launch.grid.z,
          launch.block.x, launch.block.y, launch.block.z, launch.shared_bytes, stream, parameters, nullptr);
      result != CUDA_SUCCESS) {
    return module.failure("cuLaunchKernel", result);
  }
  return Status();
}

Kernel module_kernel() {
  Kernel kernel{};
  kernel.name = "module_f16_f32_tn_128x128x32_s4";
  kernel.minimum_sm = 80;
  kernel.exact_sm = false;
  kernel.copy = Copy::module;
  kernel.type = Type::f16;
  kernel.accumulate = Type::f32;
  kernel.a_order = row_major;
  kernel.b_order = column_major;
  kernel.tile_m = tile_m;
  kernel.tile_n = tile_n;
  kernel.tile_k = tile_k;
  kernel.warp_m = 64;
  kernel.warp_n = 64;
  kernel.stages = stages;
  kernel.threads = threads;
  kernel.cluster = 1;
  kernel.part = "module_f16_f32";
  kernel.efficiency = 0.4512;  // as the tile of 128 x 128 x 32 in kernels.csv
  kernel.resident = 2;
  kernel.shared_bytes = shared_bytes;
  kernel.function = nullptr;
  kernel.fill = fill;
  return kernel;
}

Status module_resources(int& registers, int& local_bytes) noexcept {
  const Module& module = Module::instance();
  if (!module.status()) return module.status();
  CUdevice device = 0;
  if (Status status = current_device(module, device); !status) return status;
  CUresult result =
      module.driver().attribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, module.kernel(), device);
  if (result == CUDA_SUCCESS) {
    result =
        module.driver().attribute(&local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, module.kernel(), device);
  }
  return result == CUDA_SUCCESS ? Status() : module.failure("cuKernelGetAttribute", result);
}

}  // namespace tenon
