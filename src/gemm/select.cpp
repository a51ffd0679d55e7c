// The choice among kernels: acceptance first, then the least cost of cost_model.hpp.
#include "gemm/select.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "gemm/cost_correction.hpp"
#include "gemm/cost_model.hpp"
#include "gemm/problem_shape.hpp"
#include "gemm/result.hpp"
#include "gemm/split_parts.hpp"

namespace tenon {
namespace {

const char* words(Order order) noexcept {
  return order == row_major ? "row-major" : "column-major";
}

// A tensor map holds strides below 2^40 bytes.
constexpr std::int64_t longest_tma_stride = (std::int64_t{1} << 40) - 16;

// The largest leading dimension of an operand. Row-interleaved views have a stride of eight rows.
std::int64_t largest_ld(const Kernel& kernel) noexcept {
  const int rows = kernel.row_interleaved || kernel.unaligned ? 8 : 1;
  return longest_tma_stride / (rows * static_cast<std::int64_t>(bytes(kernel.type)));
}

// The largest leading dimension of C. It is limited if the kernel stores C by TMA, through a tensor map.
std::int64_t largest_ldc(const Kernel& kernel, const Gemm& problem) noexcept {
  const bool has_map = kernel.instruction == Instruction::wgmma && !kernel.row_interleaved &&
                       !kernel.unaligned && tma_can_store(problem);
  return has_map ? longest_tma_stride / static_cast<std::int64_t>(bytes(result_of(problem).type))
                 : std::numeric_limits<std::int64_t>::max();
}

// CTAs that compute C, one a tile and `split` for cluster split-K, in whole clusters. Kernels with
// row-interleaved views of A make up to eight tiles along m at a time.
std::int64_t ctas_of(const Kernel& kernel, const Gemm& problem) noexcept {
  const int sharing = kernel.cluster / kernel.split, along_n = kernel.cluster_n;
  const int along_m = kernel.row_interleaved || (kernel.unaligned && !kernel.swap_ab) ? 8 : sharing / along_n;
  return round_up_divide(problem.m, std::int64_t{kernel.tile_m} * along_m) * along_m *
         round_up_divide(problem.n, std::int64_t{kernel.tile_n} * along_n) * along_n * kernel.split;
}
constexpr std::int64_t most_ctas = std::numeric_limits<std::int32_t>::max();  // of a grid

bool is_persistent(const Kernel& kernel) noexcept {
  return kernel.copy == Copy::tma;
}

// The longest rows of C. Swap-AB kernels count the bytes of a row, as f32, in 31 bits. The other wgmma
// kernels count elements of 16 bits, because TMA stores C as such.
std::int64_t most_columns(const Kernel& kernel, const Gemm& problem) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (kernel.swap_ab && !kernel.unaligned) return most / 4;
  return kernel.instruction == Instruction::wgmma && bytes(result_of(problem).type) == 4 ? most / 2 : most;
}

// Why a kernel does not accept a problem. The sentence is made on demand: a choice asks every kernel, and
// formatting a text for each refusal would cost more time than a small product.
enum class Misfit {
  none,
  type,
  precision,
  promotion,
  accumulate,
  a_order,
  b_order,
  epilogue,
  rare_epilogue,
  output_type,
  k_multiple,
  columns,
  architecture,
  shared_memory,
  workspace,
  a_alignment,
  b_alignment,
  lda,
  ldb,
  ldc,
  ctas,
  multiprocessors
};

Misfit misfit_of_kind(const Kernel& kernel, const Gemm& problem) noexcept {
  const auto stored = [&](Type type) { return kernel.rounds_f32 ? Type::f32 : type; };
  if (problem.a.type != stored(kernel.type) || problem.b.type != stored(kernel.type_b)) return Misfit::type;
  if (kernel.rounds_f32 &&
      (part_type(problem.precision) != kernel.type || products_of(problem.precision) != 1))
    return Misfit::precision;
  if (problem.promote != kernel.promotes) return Misfit::promotion;
  if (problem.accumulate != kernel.accumulate) return Misfit::accumulate;
  if (problem.a.order != kernel.a_order) return Misfit::a_order;
  if (problem.b.order != kernel.b_order) return Misfit::b_order;
  if (needs_fused_epilogue(problem) && !kernel.fused) return Misfit::epilogue;
  if (kernel.takes_epilogue != nullptr && !kernel.takes_epilogue(problem)) return Misfit::rare_epilogue;
  if (kernel.fused && kernel.accumulate == Type::s32 && !converts_integers(problem))
    return Misfit::output_type;
  return Misfit::none;
}

Misfit misfit(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  if (const Misfit why = misfit_of_kind(kernel, problem); why != Misfit::none) return why;
  // The module has no path for less than 16 bytes along k.
  if (kernel.copy == Copy::module && problem.k % 8 != 0) return Misfit::k_multiple;
  if (kernel.copy == Copy::module && result_of(problem).type != Type::f16) return Misfit::output_type;
  if (problem.n > most_columns(kernel, problem)) return Misfit::columns;
  if (ctas_of(kernel, problem) > most_ctas) return Misfit::ctas;
  if (device.is_limited() && least_ctas(kernel, problem) > device.multiprocessors)
    return Misfit::multiprocessors;
  if (kernel.exact_sm ? device.sm != kernel.minimum_sm : device.sm < kernel.minimum_sm)
    return Misfit::architecture;
  if (kernel.shared_bytes > device.shared_bytes_per_block_optin) return Misfit::shared_memory;
  if (kernel.copy == Copy::any) return Misfit::none;
  if (!kernel.unaligned &&
      (kernel.row_interleaved ? !begins_aligned(problem.a) : copy_alignment(problem.a) < 16))
    return Misfit::a_alignment;
  if (!(kernel.unaligned && !kernel.swap_ab) && copy_alignment(problem.b) < 16) return Misfit::b_alignment;
  if (kernel.copy != Copy::tma) return Misfit::none;
  if (problem.a.ld > largest_ld(kernel)) return Misfit::lda;
  if (problem.b.ld > largest_ld(kernel)) return Misfit::ldb;
  if (result_of(problem).ld > largest_ldc(kernel, problem)) return Misfit::ldc;
  return problem.workspace_bytes < kernel.workspace_bytes(device) ? Misfit::workspace : Misfit::none;
}

Status alignment_sentence(const char* kernel, char letter, const ConstMatrix& matrix) {
  const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(matrix.data) % 16);
  if (beyond != 0) {
    return Status(StatusCode::unsupported,
                  "kernel %s copies 16 bytes at a time: %c is %d bytes past a multiple of 16 but needs 0",
                  kernel, letter, beyond);
  }
  return Status(StatusCode::unsupported,
                "kernel %s copies 16 bytes at a time: ld%c is %lld but needs a multiple of %d", kernel,
                letter - 'A' + 'a', static_cast<long long>(matrix.ld),
                static_cast<int>(16 / bytes(matrix.type)));
}

Status ld_sentence(const char* kernel, char letter, std::int64_t ld, std::int64_t largest) {
  return Status(StatusCode::unsupported, "kernel %s copies by TMA: ld%c is %lld but needs <= %lld", kernel,
                letter, static_cast<long long>(ld), static_cast<long long>(largest));
}

Status sentence(Misfit why, const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) {
  const char* const who = kernel.name.c_str();
  switch (why) {
    case Misfit::none:
      break;
    case Misfit::type:
      return Status(StatusCode::unsupported, "kernel %s multiplies %s by %s%s but A is %s and B is %s", who,
                    name(kernel.type), name(kernel.type_b), kernel.rounds_f32 ? ", rounded from f32," : "",
                    name(problem.a.type), name(problem.b.type));
    case Misfit::precision:
      return Status(StatusCode::unsupported, "kernel %s rounds to %s but the precision is %s", who,
                    name(kernel.type), name(problem.precision));
    case Misfit::promotion:
      return Status(StatusCode::unsupported, "kernel %s %s its accumulators but the problem %s", who,
                    kernel.promotes ? "promotes" : "does not promote",
                    problem.promote ? "asks for promotion" : "does not ask for promotion");
    case Misfit::accumulate:
      return Status(StatusCode::unsupported, "kernel %s accumulates in %s but the problem asks for %s", who,
                    name(kernel.accumulate), name(problem.accumulate));
    case Misfit::a_order:
      return Status(StatusCode::unsupported, "kernel %s takes A %s but A is %s", who, words(kernel.a_order),
                    words(problem.a.order));
    case Misfit::b_order:
      return Status(StatusCode::unsupported, "kernel %s takes B %s but B is %s", who, words(kernel.b_order),
                    words(problem.b.order));
    case Misfit::epilogue:
      return Status(StatusCode::unsupported,
                    "kernel %s computes alpha * A * B + beta * C in place but the problem %s", who,
                    problem.epilogue.empty() ? "has a D apart from C" : "has an epilogue");
    case Misfit::rare_epilogue:
      return Status(StatusCode::unsupported,
                    "kernel %s takes a bias with relu, gelu, drelu or dgelu, gated pairs, and a C or an aux, "
                    "all %s, the bias aligned to 4 bytes and the others to 16, but the problem has another "
                    "epilogue",
                    who, name(kernel.type));
    case Misfit::output_type:
      return Status(StatusCode::unsupported, "kernel %s writes %s but the result is %s", who,
                    kernel.copy == Copy::module ? "f16" : "floats or 8 bits", name(result_of(problem).type));
    case Misfit::k_multiple:
      return Status(StatusCode::unsupported, "kernel %s needs k to be a multiple of 8 but k is %lld", who,
                    static_cast<long long>(problem.k));
    case Misfit::columns:
      return Status(StatusCode::unsupported, "kernel %s needs n <= %lld but n is %lld", who,
                    static_cast<long long>(most_columns(kernel, problem)), static_cast<long long>(problem.n));
    case Misfit::architecture:
      return Status(StatusCode::device_unsupported, "kernel %s needs sm_%d%s but the device is sm_%d", who,
                    kernel.minimum_sm, kernel.exact_sm ? " exactly" : " or newer", device.sm);
    case Misfit::shared_memory:
      return Status(StatusCode::device_unsupported,
                    "kernel %s needs %zu bytes of shared memory a block but the device has %zu", who,
                    kernel.shared_bytes, device.shared_bytes_per_block_optin);
    case Misfit::workspace:
      return Status(
          StatusCode::workspace_too_small,
          "workspace_bytes is %zu but kernel %s needs >= %zu here to add up tiles that several CTAs "
          "compute",
          problem.workspace_bytes, who, kernel.workspace_bytes(device));
    case Misfit::a_alignment:
      return alignment_sentence(who, 'A', problem.a);
    case Misfit::b_alignment:
      return alignment_sentence(who, 'B', problem.b);
    case Misfit::lda:
      return ld_sentence(who, 'a', problem.a.ld, largest_ld(kernel));
    case Misfit::ldb:
      return ld_sentence(who, 'b', problem.b.ld, largest_ld(kernel));
    case Misfit::ldc:
      return ld_sentence(who, 'c', result_of(problem).ld, largest_ldc(kernel, problem));
    case Misfit::ctas:
      return Status(StatusCode::unsupported,
                    "kernel %s needs at most %lld CTAs, one for each tile of %d x %d, but C has %lld", who,
                    static_cast<long long>(most_ctas), kernel.tile_m, kernel.tile_n,
                    static_cast<long long>(ctas_of(kernel, problem)));
    case Misfit::multiprocessors:
      if (is_persistent(kernel))
        return Status(StatusCode::unsupported,
                      "kernel %s runs in clusters of %d CTAs but the call may use %d multiprocessors", who,
                      kernel.cluster, device.multiprocessors);
      return Status(StatusCode::unsupported,
                    "kernel %s has %lld CTAs here, %d for each tile of %d x %d, but the call may use %d "
                    "multiprocessors",
                    who, static_cast<long long>(ctas_of(kernel, problem)), kernel.split, kernel.tile_m,
                    kernel.tile_n, device.multiprocessors);
  }
  return {};
}

}  // namespace

std::int64_t least_ctas(const Kernel& kernel, const Gemm& problem) noexcept {
  return is_persistent(kernel) ? kernel.cluster : ctas_of(kernel, problem);
}

int copy_alignment(const ConstMatrix& matrix) noexcept {
  const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(matrix.data) |
                             (static_cast<std::uint64_t>(matrix.ld) * bytes(matrix.type)) | 16U;
  return static_cast<int>(bits & (~bits + 1));  // lowest set bit
}

bool begins_aligned(const ConstMatrix& matrix) noexcept {
  return reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0;
}

namespace {

// Whether every row (column) begins on a multiple of `multiple` bytes, a power of two.
bool begins_on(const ConstMatrix& matrix, std::uint64_t multiple) noexcept {
  return reinterpret_cast<std::uintptr_t>(matrix.data) % multiple == 0 &&
         static_cast<std::uint64_t>(matrix.ld) * bytes(matrix.type) % multiple == 0;
}

}  // namespace

bool begins_lines_of_the_l2(const ConstMatrix& matrix) noexcept {
  return begins_on(matrix, 128);
}

bool begins_sectors_of_the_l2(const ConstMatrix& matrix) noexcept {
  return begins_on(matrix, 32);
}

bool is_kind_of(const Kernel& kernel, const Gemm& problem) noexcept {
  return misfit_of_kind(kernel, problem) == Misfit::none;
}

bool accepts(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device, Status* why) {
  const Misfit found = misfit(kernel, problem, device);
  if (why != nullptr) *why = sentence(found, kernel, problem, device);
  return found == Misfit::none;
}

bool is_offered(const Kernel& kernel, const Gemm& problem) noexcept {
  return kernel.copy != Copy::module && kernel.fused == needs_fused_epilogue(problem);
}

bool may_be_chosen(const Kernel& kernel, const Gemm& problem) noexcept {
  // These store C element by element, which is slow.
  if (kernel.swap_ab && !kernel.unaligned && !tma_can_store(problem)) return false;
  if (kernel.row_interleaved && copy_alignment(problem.a) == 16) return false;
  return !kernel.unaligned || copy_alignment(problem.a) < 16 || copy_alignment(problem.b) < 16;
}

bool yields_to_wgmma(const Kernel& kernel, const Gemm& problem) noexcept {
  return kernel.instruction == Instruction::mma_sync &&
         (bytes(kernel.type) != 2 || (copy_alignment(problem.a) == 16 && copy_alignment(problem.b) == 16));
}

const Kernel* select_kernel(const std::vector<Kernel>& list, const Gemm& problem,
                            const DeviceDescription& device, const RefusedKernels& refused) {
  struct Candidate {
    const Kernel* kernel;
    double modelled;
  };
  std::array<Candidate, most_candidates> candidates;  // no vector: a choice allocates nothing
  std::size_t count = 0;
  const Candidate* first = nullptr;  // of the least modelled cost
  bool all_yield = true;
  for (const Kernel& kernel : list) {
    if (!is_offered(kernel, problem) || !accepts(kernel, problem, device)) continue;
    if (std::find(refused.begin(), refused.end(), &kernel) != refused.end()) continue;
    if (!may_be_chosen(kernel, problem)) continue;
    if (const bool yields = yields_to_wgmma(kernel, problem); yields != all_yield) {
      if (yields) continue;
      count = 0;
      first = nullptr;
      all_yield = false;
    }
    if (count == candidates.size()) break;
    Candidate& candidate = candidates[count++];
    candidate = {&kernel, modelled_cost(kernel, problem, device)};
    if (first == nullptr || candidate.modelled < first->modelled) first = &candidate;
  }
  if (first == nullptr) return nullptr;
  const auto cost_of = [&](const Candidate& candidate) {
    return candidate.modelled * cost_correction(*candidate.kernel, problem, device);
  };
  const Kernel* best = first->kernel;
  double least = cost_of(*first);
  for (const Candidate& candidate : candidates) {
    if (count-- == 0) break;
    if (candidate.modelled > least * most_correction) continue;  // no correction makes up for that
    const double cost = cost_of(candidate);
    if (cost > least || (cost == least && candidate.kernel > best)) continue;
    least = cost;
    best = candidate.kernel;
  }
  return best;
}

const Kernel* select_kernel(const Gemm& problem, const DeviceDescription& device) {
  return select_kernel(kernels(), problem, device);
}

}  // namespace tenon
