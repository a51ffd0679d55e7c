// The host API of tenon/gemm_batched.hpp on any launcher: validate, choose, launch. Every check comes before
// the launch.
#include "tenon/gemm_batched.hpp"

#include <new>

#include "gemm/batched_kernels.hpp"
#include "host/cuda_launcher.hpp"
#include "host/gemm_batched_on.hpp"
#include "host/options_of.hpp"
#include "host/plan.hpp"
#include "host/validate_batched.hpp"

namespace tenon {
namespace {

// What is left of a batch after validation: sizes and matrices, and the factors of C = alpha A B + beta C.
struct Work {
  BatchedProduct product;
  float alpha = 1.0F, beta = 0.0F;
  bool aligned = false;       // all rows (columns) of A and B begin on 16 bytes
  bool whole_chunks = false;  // and have a multiple of 8 elements

  bool nothing() const noexcept {
    const Product& p = product.product;
    return product.count == 0 || p.m == 0 || p.n == 0 || (p.k == 0 && beta == 1.0F);
  }
};

BatchedMatrix matrix_of(const void* first, std::int64_t stride, Type type, const void* const* list) noexcept {
  return {first, stride * static_cast<std::int64_t>(bytes(type)), list};
}

bool is_aligned(const BatchedMatrix& matrix, std::int64_t ld, Type type, int list_alignment) noexcept {
  if (ld * static_cast<std::int64_t>(bytes(type)) % 16 != 0) return false;
  if (matrix.list != nullptr) return list_alignment >= 16;
  return reinterpret_cast<std::uintptr_t>(matrix.first) % 16 == 0 && matrix.stride % 16 == 0;
}

Work work_of(const BatchedGemm& batch) noexcept {
  const Gemm p = with_unused_lds_aligned(batch.problem);
  Work work;
  work.product = {
      {p.m, p.n, p.k, p.a, p.b, p.c},
      matrix_of(p.a.data, batch.stride_a, p.a.type, batch.a_pointers),
      matrix_of(p.b.data, batch.stride_b, p.b.type, batch.b_pointers),
      matrix_of(p.c.data, batch.stride_c, p.c.type, const_cast<const void* const*>(batch.c_pointers)),
      batch.count};
  work.alpha = static_cast<float>(p.alpha);
  work.beta = static_cast<float>(p.beta);
  if (p.k == 0 || p.alpha == 0.0) {  // beta * C: A and B are not read
    work.product.product.k = 0;
    work.product.a = work.product.b = {};
    work.alpha = 1.0F;
    work.aligned = work.whole_chunks = true;
    return work;
  }
  work.aligned = is_aligned(work.product.a, p.a.ld, p.a.type, batch.list_alignment) &&
                 is_aligned(work.product.b, p.b.ld, p.b.type, batch.list_alignment);
  work.whole_chunks = work.aligned && (p.a.order == row_major ? p.k : p.m) % 8 == 0 &&
                      (p.b.order == row_major ? p.n : p.k) % 8 == 0;
  return work;
}

// Whether a call that may use only some of the multiprocessors can run all CTAs of a kernel.
bool is_within(const BatchedKernel& kernel, const Work& work, const DeviceDescription& device) noexcept {
  if (!device.is_limited() || kernel.tiles_of_cta == 0) return true;
  const Product& p = work.product.product;
  const std::int64_t most = std::int64_t{device.multiprocessors} * kernel.tiles_of_cta;
  const std::int64_t tiles_m = (p.m - 1) / kernel.tile_m + 1, tiles_n = (p.n - 1) / kernel.tile_n + 1;
  return tiles_m <= most && tiles_n <= most && work.product.count <= most / (tiles_m * tiles_n);
}

// Why a kernel does not take the batch, in words; nullptr if it does.
const char* why_not(const BatchedKernel& kernel, const Work& work, const DeviceDescription& device) noexcept {
  const Product& p = work.product.product;
  if (kernel.type != p.a.type || kernel.a_order != p.a.order || kernel.b_order != p.b.order)
    return "it is for another type or layout";
  if (kernel.stacked && device.sm != 90) return "it needs sm_90";
  if (kernel.whole_k && p.k > kernel.tile_k) return "k is larger than its tile";
  if (!kernel.whole_k && p.k == 0) return "k or alpha is 0";
  if (kernel.aligned && !work.aligned)
    return "rows (columns) of A and B must begin on multiples of 16 bytes in all problems";
  if (kernel.whole_chunks && !work.whole_chunks)
    return "rows (columns) of A and B must have a multiple of 8 elements";
  if (kernel.stacked && !is_stacked(work.product, kernel.tile_m, kernel.tile_n))
    return "m and n must be multiples of its tile's, and each matrix must follow that of the problem before";
  if (!is_within(kernel, work, device))
    return "it has a CTA for each tile (direct: for a tile of each warp), more than the multiprocessors that "
           "the call may use";
  return nullptr;
}

// Whether the tiles of a kernel occupy all multiprocessors.
bool fills(const BatchedKernel& kernel, const Work& work, const DeviceDescription& device) noexcept {
  const Product& p = work.product.product;
  return work.product.count >= device.multiprocessors ||
         work.product.count * (p.m / kernel.tile_m) * (p.n / kernel.tile_n) >= device.multiprocessors;
}

// The first kernel of the list that takes the batch: of the small ones one whose tile holds a whole problem,
// of the stacked ones the first that fills the device, or the last. What only small kernels take, because k
// is 0, goes to one with the largest tile. with_maps: stacked kernels, which need tensor maps, are chosen
// too.
const BatchedKernel* choose(const Work& work, const DeviceDescription& device, bool with_maps) {
  const Product& p = work.product.product;
  const BatchedKernel *largest = nullptr, *stacked = nullptr;
  for (const BatchedKernel& kernel : batched_kernels()) {
    if (stacked != nullptr && !kernel.stacked) return stacked;
    if ((kernel.stacked && !with_maps) || why_not(kernel, work, device) != nullptr) continue;
    if (kernel.stacked) {
      stacked = &kernel;
      if (fills(kernel, work, device)) return stacked;
    } else if (!kernel.whole_k || (p.m <= kernel.tile_m && p.n <= kernel.tile_n)) {
      return &kernel;
    } else if (largest == nullptr || kernel.tile_m * kernel.tile_n > largest->tile_m * largest->tile_n) {
      largest = &kernel;
    }
  }
  return stacked != nullptr ? stacked : p.k == 0 ? largest : nullptr;
}

Status find(const BatchedGemm& batch, const Work& work, const DeviceDescription& device,
            const BatchedKernel** kernel) {
  if (const char* const named = batch.problem.kernel; named != nullptr) {
    *kernel = find_batched_kernel(named);
    const char* const why = why_not(**kernel, work, device);
    if (why == nullptr) return {};
    return Status(StatusCode::unsupported, "%s does not take this batch: %s", named, why);
  }
  *kernel = choose(work, device, true);
  if (*kernel != nullptr) return {};
  if (device.is_limited())
    return Status(StatusCode::unsupported,
                  "the call may use %d multiprocessors, but the kernels for such a batch have a CTA for each "
                  "tile of %lld problems",
                  device.multiprocessors, static_cast<long long>(batch.count));
  return Status(StatusCode::unsupported, "this build has no kernel for batches of %s, A %s-major, B %s-major",
                name(batch.problem.a.type), batch.problem.a.order == row_major ? "row" : "column",
                batch.problem.b.order == row_major ? "row" : "column");
}

// The launch of a batch. *kernel stays null where there is nothing to do.
Status prepare(Launcher& launcher, const BatchedGemm& batch, const BatchedKernel** kernel,
               Launch* launch) noexcept try {
  *kernel = nullptr;
  if (Status s = validate(batch); !s) return s;
  const char* const named = batch.problem.kernel;
  if (named != nullptr && find_batched_kernel(named) == nullptr)
    return Status(StatusCode::invalid_argument, "no kernel for batches has the name '%.100s'", named);
  const Work work = work_of(batch);
  if (work.nothing()) return {};
  DeviceDescription device;
  if (Status s = launcher.describe(&device); !s) return s;
  const BatchedKernel* found = nullptr;
  if (Status s = find(batch, work, device, &found); !s) return s;
  Status configured = found->configure(work.product, work.alpha, work.beta, device, launcher, launch);
  // Without tensor maps another kernel runs, unless the caller named one.
  if (configured.code() == StatusCode::device_unsupported && named == nullptr) {
    found = choose(work, device, false);
    if (found != nullptr)
      configured = found->configure(work.product, work.alpha, work.beta, device, launcher, launch);
  }
  if (!configured) return configured;
  *kernel = found;
  return {};
} catch (const std::bad_alloc&) {  // the kernel list is built on first use
  return Status(StatusCode::cuda_error, "no host memory is left for the list of kernels");
}

}  // namespace

Status can_implement(Launcher& given, const BatchedGemm& batch) noexcept {
  LimitedLauncher launcher(given, options_of(batch.problem));
  const BatchedKernel* kernel = nullptr;
  Launch launch;
  return prepare(launcher, batch, &kernel, &launch);
}

const char* kernel_name(Launcher& given, const BatchedGemm& batch) noexcept {
  LimitedLauncher launcher(given, options_of(batch.problem));
  const BatchedKernel* kernel = nullptr;
  Launch launch;
  return prepare(launcher, batch, &kernel, &launch) && kernel != nullptr ? kernel->name.c_str() : nullptr;
}

Status gemm_batched(Launcher& given, const BatchedGemm& batch) noexcept {
  LimitedLauncher launcher(given, options_of(batch.problem));
  const BatchedKernel* kernel = nullptr;
  Launch launch;
  if (Status s = prepare(launcher, batch, &kernel, &launch); !s) return s;
  return kernel == nullptr ? Status() : launcher.launch(launch);
}

Status can_implement(const BatchedGemm& batch) noexcept {
  CudaLauncher launcher(nullptr);
  return can_implement(launcher, batch);
}

const char* kernel_name(const BatchedGemm& batch) noexcept {
  CudaLauncher launcher(nullptr);
  return kernel_name(launcher, batch);
}

Status gemm_batched(const BatchedGemm& batch, CUstream_st* stream) noexcept {
  CudaLauncher launcher(stream);
  return gemm_batched(launcher, batch);
}

}  // namespace tenon
