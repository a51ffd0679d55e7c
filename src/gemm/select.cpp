// The choice among kernels: acceptance first, then the cost model that select.hpp states.
#include "gemm/select.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tenon {
namespace {

// Operand traffic of one row of a tile, in multiply-adds: what a block pays per element of its half
// perimeter.
constexpr double traffic_weight = 32.0;

// What copying costs against the best way, in time of the whole tile. The steps between widths follow the
// number of copy instructions (8 times as many for 2 bytes as for 16), damped because they overlap with the
// products.
double copy_cost(Copy copy, int alignment) noexcept {
  switch (copy) {
    case Copy::tma:
      return 1.0;
    case Copy::cp_async:
      return 1.08;
    case Copy::module:
      return 1.08;
    case Copy::any:
      return alignment >= 16 ? 1.15 : alignment >= 4 ? 1.6 : 3.0;
  }
  return 1.0;
}

const char* words(Order order) noexcept {
  return order == row_major ? "row-major" : "column-major";
}

// A sentence if the operand cannot be copied 16 bytes at a time.
Status refuse_alignment(const Kernel& kernel, char letter, const ConstMatrix& matrix) {
  const auto address = reinterpret_cast<std::uintptr_t>(matrix.data);
  if (address % 16 != 0) {
    return Status(StatusCode::unsupported,
                  "kernel %s copies 16 bytes at a time: %c is %d bytes past a multiple of 16 but needs 0",
                  kernel.name.c_str(), letter, static_cast<int>(address % 16));
  }
  if (matrix.ld % 8 != 0) {
    return Status(StatusCode::unsupported,
                  "kernel %s copies 16 bytes at a time: ld%c is %lld but needs a multiple of 8",
                  kernel.name.c_str(), letter - 'A' + 'a', static_cast<long long>(matrix.ld));
  }
  return {};
}

Status refuse(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) {
  if (problem.a.type != kernel.type) {
    return Status(StatusCode::unsupported, "kernel %s multiplies %s but A and B are %s", kernel.name.c_str(),
                  name(kernel.type), name(problem.a.type));
  }
  if (problem.accumulate != kernel.accumulate) {
    return Status(StatusCode::unsupported, "kernel %s accumulates in %s but the problem asks for %s",
                  kernel.name.c_str(), name(kernel.accumulate), name(problem.accumulate));
  }
  if (problem.a.order != kernel.a_order) {
    return Status(StatusCode::unsupported, "kernel %s takes A %s but A is %s", kernel.name.c_str(),
                  words(kernel.a_order), words(problem.a.order));
  }
  if (problem.b.order != kernel.b_order) {
    return Status(StatusCode::unsupported, "kernel %s takes B %s but B is %s", kernel.name.c_str(),
                  words(kernel.b_order), words(problem.b.order));
  }
  if (kernel.exact_sm ? device.sm != kernel.minimum_sm : device.sm < kernel.minimum_sm) {
    return Status(StatusCode::device_unsupported, "kernel %s needs sm_%d%s but the device is sm_%d",
                  kernel.name.c_str(), kernel.minimum_sm, kernel.exact_sm ? " exactly" : " or newer",
                  device.sm);
  }
  if (kernel.shared_bytes > device.shared_bytes_per_block_optin) {
    return Status(StatusCode::device_unsupported,
                  "kernel %s needs %zu bytes of shared memory a block but the device has %zu",
                  kernel.name.c_str(), kernel.shared_bytes, device.shared_bytes_per_block_optin);
  }
  if (kernel.copy != Copy::any) {
    if (Status s = refuse_alignment(kernel, 'A', problem.a); !s) return s;
    if (Status s = refuse_alignment(kernel, 'B', problem.b); !s) return s;
  }
  if (kernel.copy == Copy::module && problem.c.type != Type::f16) {
    return Status(StatusCode::unsupported, "kernel %s writes f16 but C is %s", kernel.name.c_str(),
                  name(problem.c.type));
  }
  // A tensor map holds strides below 2^40 bytes.
  constexpr std::int64_t longest_tma_stride = (std::int64_t{1} << 39) - 8;
  if (kernel.copy == Copy::tma && std::max(problem.a.ld, problem.b.ld) > longest_tma_stride) {
    return Status(StatusCode::unsupported,
                  "kernel %s copies by TMA: a leading dimension is %lld but needs <= %lld",
                  kernel.name.c_str(), static_cast<long long>(std::max(problem.a.ld, problem.b.ld)),
                  static_cast<long long>(longest_tma_stride));
  }
  return {};
}

}  // namespace

int copy_alignment(const ConstMatrix& matrix) noexcept {
  const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(matrix.data) |
                             (static_cast<std::uint64_t>(matrix.ld) * bytes(matrix.type)) | 16U;
  return static_cast<int>(bits & (~bits + 1));  // lowest set bit
}

bool accepts(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device, Status* why) {
  const Status status = refuse(kernel, problem, device);
  if (why != nullptr) *why = status;
  return static_cast<bool>(status);
}

double estimated_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  const auto round_up_divide = [](std::int64_t x, std::int64_t y) { return x / y + (x % y != 0 ? 1 : 0); };
  const double tiles = static_cast<double>(round_up_divide(problem.m, kernel.tile_m)) *
                       static_cast<double>(round_up_divide(problem.n, kernel.tile_n));
  const double processors = std::max(device.multiprocessors, 1);
  // ceil() of a double is exact here: tile counts stay far below 2^53.
  const double rounds =
      static_cast<double>(static_cast<std::int64_t>((tiles + processors - 1.0) / processors));
  const double tile = static_cast<double>(kernel.tile_m) * kernel.tile_n +
                      traffic_weight * (static_cast<double>(kernel.tile_m) + kernel.tile_n);
  return rounds * tile *
         copy_cost(kernel.copy, std::min(copy_alignment(problem.a), copy_alignment(problem.b)));
}

const Kernel* select_kernel(const std::vector<Kernel>& list, const Gemm& problem,
                            const DeviceDescription& device) {
  const Kernel* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Kernel& kernel : list) {
    if (kernel.copy == Copy::module || !accepts(kernel, problem, device)) continue;
    if (const double cost = estimated_cost(kernel, problem, device); cost < least) {
      least = cost;
      best = &kernel;
    }
  }
  return best;
}

const Kernel* select_kernel(const Gemm& problem, const DeviceDescription& device) {
  return select_kernel(kernels(), problem, device);
}

}  // namespace tenon
