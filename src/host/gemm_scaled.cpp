// The host API of tenon/gemm_scaled.hpp on any launcher: validate, choose, launch.
#include "tenon/gemm_scaled.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include "gemm/scale.hpp"
#include "gemm/scaled.hpp"
#include "host/cuda_launcher.hpp"
#include "host/gemm_on.hpp"
#include "host/options_of.hpp"
#include "host/validate.hpp"
#include "tenon/gemm/plan.hpp"

namespace tenon {
namespace {

// The product without its scales; with per_tensor and per_row_column, with them.
Gemm plain(const ScaledGemm& p) noexcept {
  Gemm problem;
  problem.m = p.m, problem.n = p.n, problem.k = p.k;
  problem.a = p.a, problem.b = p.b, problem.c = p.c;
  problem.alpha = static_cast<double>(p.alpha), problem.beta = static_cast<double>(p.beta);
  problem.multiprocessors = p.multiprocessors, problem.overlaps_previous = p.overlaps_previous;
  if (p.mode == ScaleMode::per_tensor) {
    problem.scale_a = p.scale_a.data;
    problem.scale_b = p.scale_b.data;
    problem.kernel = p.kernel;
  } else if (p.mode == ScaleMode::per_row_column) {
    problem.epilogue.row_scale = p.scale_a.data;
    problem.epilogue.column_scale = p.scale_b.data;
    problem.kernel = p.kernel;
  }
  return problem;
}

// Of the other modes, whose products gemm() computes.
Status check_mode(const ScaledGemm& p) noexcept {
  if (p.mode == ScaleMode::per_tensor) return {};
  if (p.mode != ScaleMode::per_row_column)
    return Status(StatusCode::invalid_argument, "the scale mode is %d but is a number from 0 to 2",
                  static_cast<int>(p.mode));
  for (const auto& [letter, matrix, scales] :
       {std::tuple('A', &p.a, &p.scale_a), std::tuple('B', &p.b, &p.scale_b)}) {
    if (!is_fp8(matrix->type))
      return Status(StatusCode::unsupported, "%c is %s but scaled products are of e4m3 or e5m2", letter,
                    name(matrix->type));
    if (scales->data == nullptr && p.m != 0 && p.n != 0)
      return Status(StatusCode::invalid_argument, "the scales of %c are a null pointer", letter);
  }
  return {};
}

Status check_operand(char letter, const ConstMatrix& matrix, Order needed) noexcept {
  if (matrix.type != Type::e4m3)
    return Status(StatusCode::unsupported, "%c is %s but with block scales must be e4m3", letter,
                  name(matrix.type));
  if (matrix.order != needed)
    return Status(StatusCode::unsupported, "%c is %s but with block scales must be %s", letter,
                  matrix.order == row_major ? "row-major" : "column-major",
                  needed == row_major ? "row-major" : "column-major");
  return check_tma_operand(letter, matrix);
}

// `rows` rows of `length` scales. They may not be written.
Status check_apart_from_c(char letter, const BlockScales& scales, std::int64_t rows, std::int64_t length,
                          std::int64_t ld, const ScaledGemm& p) noexcept {
  if (p.m == 0 || p.n == 0) return {};
  const auto positive = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
  const std::uint64_t element = bytes(p.c.type), row_bytes = positive(p.n) * element;
  const ByteRanges c{reinterpret_cast<std::uintptr_t>(p.c.data), positive(p.m), row_bytes,
                     p.m == 1 ? row_bytes : positive(p.c.ld) * element};
  const ByteRanges other{reinterpret_cast<std::uintptr_t>(scales.data), positive(rows), positive(length) * 4,
                         positive(rows == 1 ? length : ld) * 4};
  if (!overlap(c, other)) return {};
  return Status(StatusCode::invalid_argument,
                "C (%lld rows from %p) overlaps the scales of %c (from %p) but needs memory of its own",
                static_cast<long long>(p.m), p.c.data, letter, static_cast<const void*>(scales.data));
}

Status check_scales(const ScaledGemm& p) noexcept {
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.alpha == 0.0F) return {};
  if (Status s = check_operand('A', p.a, row_major); !s) return s;
  if (Status s = check_operand('B', p.b, column_major); !s) return s;
  const BlockScaledProduct product{{p.m, p.n, p.k, p.a, p.b, p.c}, p.scale_a, p.scale_b};
  if (Status s = check_block_scales(product); !s) return s;
  const std::int64_t blocks_n = blocks_of_128(p.n), blocks_k = blocks_of_128(p.k);
  if (Status s = check_apart_from_c('A', p.scale_a, blocks_k, p.m, p.scale_a.ld, p); !s) return s;
  return check_apart_from_c('B', p.scale_b, blocks_n, blocks_k, p.scale_b.ld, p);
}

// Of block scales. *kernel: null if there is no product to compute (m, n, k or alpha is 0).
Status prepare(Launcher& launcher, const ScaledGemm& p, DeviceDescription* device,
               const ScaledKernel** kernel) noexcept {
  *kernel = nullptr;
  if (Status s = validate(plain(p)); !s) return s;
  if (Status s = check_scales(p); !s) return s;
  const bool has_product = p.m != 0 && p.n != 0 && p.k != 0 && p.alpha != 0.0F;
  const ScaledKernels kernels = block_scaled_kernels();
  if (kernels.count == 0 && (has_product || p.kernel != nullptr))
    return Status(StatusCode::unsupported, "this build has no kernel for block-scaled products of e4m3");
  const ScaledKernel* const end = kernels.kernels + kernels.count;
  const ScaledKernel* named = nullptr;
  if (p.kernel != nullptr) {
    named = std::find_if(kernels.kernels, end,
                         [&](const ScaledKernel& k) { return std::strcmp(k.name, p.kernel) == 0; });
    if (named == end)
      return Status(StatusCode::invalid_argument,
                    "no block-scaled kernel has the name '%.100s'; '%s', for example, is one", p.kernel,
                    kernels.kernels[0].name);
  }
  if (p.m == 0 || p.n == 0) return {};
  if (Status s = launcher.describe(device); !s) return s;
  if (!has_product) return {};
  *kernel = named != nullptr ? named : choose_scaled_kernel(kernels, p.m, p.n, p.k, device->multiprocessors);
  return (*kernel)->check(p, *device);
}

}  // namespace

const ScaledKernel* choose_scaled_kernel(const ScaledKernels& kernels, std::int64_t m, std::int64_t n,
                                         std::int64_t k, int multiprocessors) noexcept {
  // Clocks: prologue and epilogue, of which those of later tiles overlap the multiplication; reduction. Bytes
  // of weights that all multiprocessors load from memory in a clock.
  constexpr double of_first_tile = 3000, of_later_tile = 1000, of_split = 2000, bytes_a_clock = 2470;
  const auto up = [](std::int64_t x, std::int64_t step) { return (x + step - 1) / step; };
  const ScaledKernel* best = nullptr;
  double least = 0;
  for (int i = 0; i < kernels.count; ++i) {
    const ScaledKernel& kernel = kernels.kernels[i];
    const std::int64_t tiles_m = up(m, kernel.tile_m), tiles_n = up(n, kernel.tile_n);
    const std::int64_t clusters = up(tiles_m, kernel.cluster_m) * up(tiles_n, kernel.cluster_n);
    const int of_cluster = kernel.cluster_m * kernel.cluster_n * kernel.split;
    if (of_cluster > std::max(1, multiprocessors)) continue;
    const int at_once = std::max(1, multiprocessors / of_cluster);
    const auto waves = static_cast<double>(up(clusters, at_once));
    // B is read from memory once for all tiles along m.
    const auto ctas =
        static_cast<double>(std::min<std::int64_t>(tiles_m * tiles_n * kernel.split, multiprocessors));
    const double of_memory = 128.0 * kernel.tile_n * ctas / bytes_a_clock / static_cast<double>(tiles_m);
    const double of_k_tile = std::max(static_cast<double>(kernel.k_tile_clocks), of_memory);
    const auto k_tiles = static_cast<double>(up(up(k, 128), kernel.split));
    const double clocks = waves * k_tiles * of_k_tile + of_first_tile + (waves - 1) * of_later_tile +
                          (kernel.split > 1 ? waves * of_split : 0);
    if (best == nullptr || clocks < least) best = &kernel, least = clocks;
  }
  return best;
}

Status can_implement(Launcher& launcher, const ScaledGemm& problem) noexcept {
  if (problem.mode != ScaleMode::block_1x128_128x128) {
    const Status s = check_mode(problem);
    return s ? can_implement(launcher, plain(problem)) : s;
  }
  LimitedLauncher limited(launcher, options_of(problem));
  DeviceDescription device;
  const ScaledKernel* kernel = nullptr;
  return prepare(limited, problem, &device, &kernel);
}

const char* kernel_name(Launcher& launcher, const ScaledGemm& problem) noexcept {
  if (problem.mode != ScaleMode::block_1x128_128x128) {
    const Status s = check_mode(problem);
    return s ? kernel_name(launcher, plain(problem)) : nullptr;
  }
  LimitedLauncher limited(launcher, options_of(problem));
  DeviceDescription device;
  const ScaledKernel* kernel = nullptr;
  return prepare(limited, problem, &device, &kernel) && kernel != nullptr ? kernel->name : nullptr;
}

Status gemm(Launcher& given, const ScaledGemm& problem) noexcept {
  if (problem.mode != ScaleMode::block_1x128_128x128) {
    const Status s = check_mode(problem);
    return s ? gemm(given, plain(problem)) : s;
  }
  LimitedLauncher launcher(given, options_of(problem));
  DeviceDescription device;
  const ScaledKernel* kernel = nullptr;
  if (Status s = prepare(launcher, problem, &device, &kernel); !s) return s;
  if (problem.m == 0 || problem.n == 0) return {};
  if (kernel == nullptr) return scale_c(launcher, plain(problem));
  Launch launch;
  launch.what = kernel->name;
  launch.ptx = kernel->ptx;
  if (Status s = kernel->plan(problem, device, launcher, &launch); !s) return s;
  return launcher.launch(launch);
}

Status can_implement(const ScaledGemm& problem) noexcept {
  CudaLauncher launcher(nullptr);
  return can_implement(launcher, problem);
}

const char* kernel_name(const ScaledGemm& problem) noexcept {
  CudaLauncher launcher(nullptr);
  return kernel_name(launcher, problem);
}

Status gemm(const ScaledGemm& problem, CUstream_st* stream) noexcept {
  CudaLauncher launcher(stream);
  return gemm(launcher, problem);
}

}  // namespace tenon
