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

// A tensor map holds strides below 2^40 bytes.
constexpr std::int64_t longest_tma_stride = (std::int64_t{1} << 39) - 8;

// Why a kernel does not take a problem. Found without a sentence: a choice asks every kernel, and formatting
// text for each that does not fit would cost more than a small product.
enum class Misfit {
  none,
  type,
  accumulate,
  a_order,
  b_order,
  output_type,
  architecture,
  shared_memory,
  a_alignment,
  b_alignment,
  tma_stride
};

Misfit misfit(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  if (problem.a.type != kernel.type) return Misfit::type;
  if (problem.accumulate != kernel.accumulate) return Misfit::accumulate;
  if (problem.a.order != kernel.a_order) return Misfit::a_order;
  if (problem.b.order != kernel.b_order) return Misfit::b_order;
  if (kernel.copy == Copy::module && problem.c.type != Type::f16) return Misfit::output_type;
  if (kernel.exact_sm ? device.sm != kernel.minimum_sm : device.sm < kernel.minimum_sm)
    return Misfit::architecture;
  if (kernel.shared_bytes > device.shared_bytes_per_block_optin) return Misfit::shared_memory;
  if (kernel.copy == Copy::any) return Misfit::none;
  if (copy_alignment(problem.a) < 16) return Misfit::a_alignment;
  if (copy_alignment(problem.b) < 16) return Misfit::b_alignment;
  if (kernel.copy == Copy::tma && std::max(problem.a.ld, problem.b.ld) > longest_tma_stride)
    return Misfit::tma_stride;
  return Misfit::none;
}

Status alignment_sentence(const char* kernel, char letter, const ConstMatrix& matrix) {
  const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(matrix.data) % 16);
  if (beyond != 0) {
    return Status(StatusCode::unsupported,
                  "kernel %s copies 16 bytes at a time: %c is %d bytes past a multiple of 16 but needs 0",
                  kernel, letter, beyond);
  }
  return Status(StatusCode::unsupported,
                "kernel %s copies 16 bytes at a time: ld%c is %lld but needs a multiple of 8", kernel,
                letter - 'A' + 'a', static_cast<long long>(matrix.ld));
}

Status sentence(Misfit why, const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) {
  const char* const who = kernel.name.c_str();
  switch (why) {
    case Misfit::none:
      break;
    case Misfit::type:
      return Status(StatusCode::unsupported, "kernel %s multiplies %s but A and B are %s", who,
                    name(kernel.type), name(problem.a.type));
    case Misfit::accumulate:
      return Status(StatusCode::unsupported, "kernel %s accumulates in %s but the problem asks for %s", who,
                    name(kernel.accumulate), name(problem.accumulate));
    case Misfit::a_order:
      return Status(StatusCode::unsupported, "kernel %s takes A %s but A is %s", who, words(kernel.a_order),
                    words(problem.a.order));
    case Misfit::b_order:
      return Status(StatusCode::unsupported, "kernel %s takes B %s but B is %s", who, words(kernel.b_order),
                    words(problem.b.order));
    case Misfit::output_type:
      return Status(StatusCode::unsupported, "kernel %s writes f16 but C is %s", who, name(problem.c.type));
    case Misfit::architecture:
      return Status(StatusCode::device_unsupported, "kernel %s needs sm_%d%s but the device is sm_%d", who,
                    kernel.minimum_sm, kernel.exact_sm ? " exactly" : " or newer", device.sm);
    case Misfit::shared_memory:
      return Status(StatusCode::device_unsupported,
                    "kernel %s needs %zu bytes of shared memory a block but the device has %zu", who,
                    kernel.shared_bytes, device.shared_bytes_per_block_optin);
    case Misfit::a_alignment:
      return alignment_sentence(who, 'A', problem.a);
    case Misfit::b_alignment:
      return alignment_sentence(who, 'B', problem.b);
    case Misfit::tma_stride:
      return Status(StatusCode::unsupported,
                    "kernel %s copies by TMA: a leading dimension is %lld but needs <= %lld", who,
                    static_cast<long long>(std::max(problem.a.ld, problem.b.ld)),
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
  const Misfit found = misfit(kernel, problem, device);
  if (why != nullptr) *why = sentence(found, kernel, problem, device);
  return found == Misfit::none;
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
