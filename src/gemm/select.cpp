// The choice among kernels: acceptance first, then the cost model that select.hpp states.
#include "gemm/select.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gemm/result.hpp"
#include "gemm/split_parts.hpp"
#include "gemm/swapped_operands.hpp"
#include "tenon/gemm/output.hpp"
#include "tenon/gemm/row_interleaved.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/gemm/tile_scheduler_unaligned.hpp"

namespace tenon {
namespace {

// The cost model of the wgmma kernels, in clocks of an SM. The constants were fitted to the times of all bf16
// kernels on an H200, for the 60 problems of the suite `models` and 8 others. The kernels that the model then
// chose took 0.4 % longer than the fastest ones in the mean, and 6 % at most. Swap-AB kernels came later
// (transposed_store_clocks).
namespace wgmma {
constexpr double flop_per_clock = 4096;       // of an SM, for 16-bit operands, times Kernel::efficiency
constexpr double bytes_per_clock = 56;        // from the L2 to an SM
constexpr double new_bytes_per_clock = 33.5;  // from memory to an SM, for operands
constexpr double part_of_l2 = 0.75;           // that fill more than this part of the L2
// Slowdown of loads whose rows do not begin on 32-byte sectors. Fitted to all kernels on 19 such problems:
// the choice takes 1.5 % longer than the fastest kernel in the mean, 13 % at most. Without this factor it
// takes 5.7 % and 25 %.
constexpr double sector_crossing = 1.6;
constexpr double tile_clocks = 110;     // of a tile, whatever its size, and
constexpr double store_clocks = 0.092;  // of each element of C in it. All SMs store at the same time.
// The beta == 0 specialisation (RegisterBudget::specialises_beta_zero) saves this much for each element, in
// tiles of 128 and of 256 rows: the gain of 2048^3 in 128x256 and of 8192^3 in 256x200.
constexpr double beta_zero_saves_of_128 = 0.02, beta_zero_saves_of_256 = 0.039;
// Added for an element of 4 bytes. 4096^3 with C in f32 takes equally long in 128x256 and in ping-pong
// 128x128 in a burst. Sustained, the latter took 1.2, 1.1 and -0.6 % less in three runs on two chips.
constexpr double f32_store_clocks = 0.002;
// Added for an element of 4 bytes where TMA cannot store C. 4095^3 takes 228 us with C in f32 and 217 in bf16
// (padded copies, 128x256), 4095 x 4095 x 511 56 and 40 (ping-pong 128x128). The difference between kernels
// was not measured. So all kernels have the same term, except the unaligned ones, which realign the rows of
// C.
constexpr double unaligned_f32_store_clocks = 0.15;
// Added for an element that a swap-AB kernel stores transposed. Fitted to all kernels on 57 problems: the
// choice takes 1.4 % longer than the fastest kernel in the mean, and 2.5 % with 0.02, which was a guess.
constexpr double transposed_store_clocks = 0.06;
constexpr double narrow_subtile_clocks = 520;       // of a last epilogue subtile below 64 columns (StoreTma)
constexpr double overlap_of_register_stores = 0.4;  // part of the stores that ping-pong hides without TMA
constexpr double reduction_clocks = 2950;           // between two CTAs that split k,
constexpr double further_reduction_clocks = 800;    // and for each CTA beyond two
constexpr double mma_sync_tile_clocks = 300;        // of a tile of the other kernels, whatever its size
// Clusters of more than two CTAs do not fill the GPCs: part of the SMs that they reach.
constexpr double reached_by_large_clusters = 10.0 / 11;
// Multiply-adds of the largest TMA tile (555 TFLOP/s) in a clock: from clocks to the unit of the other
// kernels.
constexpr double unit = 1200;
// Copies of operands, measured alone at 2 to 34 MB: the launch of a transposing copy, and bytes in a clock.
constexpr double transposing_clocks = 2000, transposed_bytes_per_clock = 900, copied_bytes_per_clock = 1040;
// Efficiency of the unaligned kernels where the operands fill more than part_of_l2: TMA limits them, since
// each row takes two boxes. The three terms for an element of C hold where C has
// the type of the operands, where it is f32, and for everything else. Fitted to 11 problems from 4095 x 4095
// x 511 to 6000^3 and to the choice without such kernels: the choice with them is 5 % slower in one problem,
// else equally fast or faster. All of these problems take up to a fifth longer than estimated.
constexpr double unaligned_from_memory = 0.88;
// The same where the operand that stays in shared memory has rows on 128-byte lines of the L2. 2048^3 with
// lda 2049 reaches 705 TFLOP/s in 128x256 and 656 in 256x128; 12288 x 1024 x 2048 with lda 2049 716 and 653.
constexpr double unaligned_on_l2_lines = 0.97;
constexpr double unaligned_store_clocks = 0.15, unaligned_to_f32_store_clocks = 0.2,
                 unaligned_general_store_clocks = 0.9;
// Slowdown of a k-tile in tail split-K, whose CTAs share no operands. Of 1228 problems the first value
// changed the choice for 21, which then took 5 % less in the mean: 2520 x 872 x 2112 31 % less, but 9536 x
// 200 x 11008 9 % more. The second one is for unaligned kernels: the L2 lines that the CTA loads, 768 instead
// of 512. It was not measured.
constexpr double tail_split = 1.12, unaligned_tail_split = 1.5;

}  // namespace wgmma

// Multiply-adds of the tensor cores in a clock, relative to 16-bit operands.
double tensor_rate(Type type) noexcept {
  return bytes(type) == 1 ? 2.0 : type == Type::tf32 ? 0.5 : type == Type::f64 ? 0.0625 : 1.0;
}

const char* words(Order order) noexcept {
  return order == row_major ? "row-major" : "column-major";
}

// Whether the kernel has tail split-K (WgmmaConfig::splits_tail, GemmUnaligned): two CTAs compute each of the
// last tiles if those fill less than half a wave.
bool splits_tail(const Kernel& kernel) noexcept {
  return kernel.instruction == Instruction::wgmma && kernel.cluster == 2 && kernel.split == 1 &&
         kernel.warp_rows() > 64 && !kernel.pingpong;
}

// The reduction between the CTAs of a cluster costs each of its tiles so many multiply-adds at speed 1.
constexpr double reduction = 2.7e6;

std::int64_t round_up_divide(std::int64_t x, std::int64_t y) noexcept {
  return x / y + (x % y != 0 ? 1 : 0);
}

bool tma_can_store(const Gemm& problem) noexcept {
  return tenon::tma_can_store(Output{result_of(problem).data, result_of(problem).ld,
                                     static_cast<int>(problem.m),
                                     static_cast<int>(columns_of_result(problem)), result_of(problem).type});
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
  a_alignment,
  b_alignment,
  lda,
  ldb,
  ldc,
  ctas
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
  return result_of(problem).ld > largest_ldc(kernel, problem) ? Misfit::ldc : Misfit::none;
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
      return Status(
          StatusCode::unsupported,
          "kernel %s takes a bias with relu or gelu, gated pairs and a C of 16 bits, all %s and aligned "
          "to 16 bytes, but the problem has another epilogue",
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
  }
  return {};
}

}  // namespace

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

namespace {

// The clocks that the epilogue takes for an element of C.
double clocks_of_element(const Kernel& kernel, const Gemm& problem) noexcept {
  const double transposed = kernel.swap_ab ? wgmma::transposed_store_clocks : 0;
  // The ping-pong constants were fitted with the specialisation. Tiles of 128 rows gain little from it if C
  // has 4 bytes, and 256x160, whose epilogue has one subtile at a time, was not measured.
  const bool beta_zero = kernel.specialises_beta_zero && !kernel.pingpong && kernel.columns() != 160 &&
                         bytes(kernel.type) == 2 && problem.beta == 0.0 && tma_can_store(problem);
  if (beta_zero && kernel.rows() == 256)
    return wgmma::store_clocks - wgmma::beta_zero_saves_of_256 + transposed;
  if (beta_zero && bytes(result_of(problem).type) == 2)
    return wgmma::store_clocks - wgmma::beta_zero_saves_of_128 + transposed;
  const double f32 = bytes(result_of(problem).type) == 4 ? wgmma::f32_store_clocks : 0;
  if (!kernel.unaligned) return wgmma::store_clocks + f32 + transposed;
  if (problem.beta == 0.0 && result_of(problem).type == kernel.type) return wgmma::unaligned_store_clocks;
  if (problem.beta == 0.0 && result_of(problem).type == Type::f32)
    return wgmma::unaligned_to_f32_store_clocks;
  return wgmma::unaligned_general_store_clocks;
}

// The work of the L2 for a row of an operand, relative to a row that begins on a sector.
double l2_work(const ConstMatrix& matrix) noexcept {
  return begins_sectors_of_the_l2(matrix) ? 1 : wgmma::sector_crossing;
}

// The time of a wgmma kernel in clocks. A k-tile takes as long as its multiplication or its loads, whichever
// is longer. Each CTA of a cluster along m (n) loads a part of B (A) for all of them. A cluster computes all
// of its tiles, even those beyond the rows (columns) of C.
double wgmma_clocks(const Kernel& kernel, const Gemm& given, const DeviceDescription& device) noexcept {
  // The product that the tensor cores compute.
  const Gemm problem = kernel.swap_ab ? with_swapped_operands(given) : given;
  const int tile_m = kernel.rows(), tile_n = kernel.columns();
  const int sms = std::max(device.multiprocessors, 1);
  const bool on_l2_lines = kernel.unaligned && begins_lines_of_the_l2(problem.a);
  const bool b_is_shared = on_l2_lines && shares_unaligned_b(problem.m, problem.n, tile_m, tile_n);
  const int sharing = kernel.cluster / kernel.split;
  const int along_n = b_is_shared ? 1 : kernel.swap_ab ? sharing / kernel.cluster_n : kernel.cluster_n;
  const int along_m = sharing / along_n;
  const auto rows_of_c = static_cast<int>(problem.m);
  const std::int64_t tiles_m = kernel.row_interleaved ? RowInterleavedTiles<2>::tiles_of(rows_of_c)
                               : kernel.unaligned && copy_alignment(problem.a) < 16
                                   ? row_interleaved_tiles(rows_of_c, tile_m, 1)
                                   : round_up_divide(problem.m, std::int64_t{tile_m} * along_m) * along_m;
  const std::int64_t tiles_n = round_up_divide(problem.n, std::int64_t{tile_n} * along_n) * along_n;
  // Unaligned rows begin up to so many elements inside their first k-tile.
  const int leading = kernel.row_interleaved ? 7 : kernel.unaligned ? 15 : 0;
  const std::int64_t k_tiles = round_up_divide(problem.k + leading, kernel.tile_k);

  double multiplying = 2.0 * tile_m * tile_n * kernel.tile_k /
                       (wgmma::flop_per_clock * tensor_rate(kernel.type) * kernel.efficiency);
  if (on_l2_lines) multiplying *= kernel.efficiency / wgmma::unaligned_on_l2_lines;
  // A single tile along m or n loads no rows that the operand does not have (RegisterBudget::loads_residue).
  const auto loaded = [](int tile, std::int64_t extent, bool has_residue_extent) {
    return static_cast<double>(
        has_residue_extent ? std::min<std::int64_t>(tile, round_up_divide(extent, 8) * 8) : tile);
  };
  const double rows = loaded(tile_m, problem.m, kernel.loads_residue && problem.a.order == row_major);
  const double columns = loaded(tile_n, problem.n, kernel.loads_residue && problem.b.order == column_major);
  const double row_bytes = static_cast<double>(kernel.tile_k) * static_cast<double>(bytes(kernel.type));
  // Kernels with row-interleaved views were fitted without the work of the L2.
  const bool is_row_interleaved = kernel.row_interleaved || kernel.unaligned;
  const double of_a = is_row_interleaved ? 1 : l2_work(problem.a);
  const double of_b = is_row_interleaved ? 1 : l2_work(problem.b);
  double loading = (rows / along_n * of_a + columns / along_m * of_b) * row_bytes / wgmma::bytes_per_clock;
  const double operands = (static_cast<double>(problem.m) + static_cast<double>(problem.n)) *
                          static_cast<double>(problem.k) * static_cast<double>(bytes(kernel.type));
  if (operands > wgmma::part_of_l2 * static_cast<double>(device.l2_bytes)) {
    // What no other tile has brought into the L2.
    const double once = rows / static_cast<double>(tiles_n) + columns / static_cast<double>(tiles_m);
    loading = std::max(loading, once * row_bytes / wgmma::new_bytes_per_clock);
    if (kernel.unaligned) multiplying *= kernel.efficiency / wgmma::unaligned_from_memory;
  }
  const double k_tile = std::max(multiplying, loading);

  const double storing = wgmma::tile_clocks + clocks_of_element(kernel, given) * tile_m * tile_n +
                         (tile_n % 64 != 0 && !kernel.swap_ab ? wgmma::narrow_subtile_clocks : 0);
  // A last k-tile that holds only the leading elements takes one of its four wgmma steps.
  const double saved = kernel.unaligned && (problem.k - 1) % kernel.tile_k >= kernel.tile_k - 15 ? 0.75 : 0;
  const double mainloop = (static_cast<double>(k_tiles) - saved) * k_tile, tile = mainloop + storing;
  const double reached = kernel.cluster > 2 ? wgmma::reached_by_large_clusters : 1;
  const auto clusters = std::max<std::int64_t>(static_cast<std::int64_t>(sms * reached) / kernel.cluster, 1);
  const std::int64_t cluster_tiles = tiles_m / along_m * (tiles_n / along_n);
  if (splits_tail(kernel)) {
    const std::int64_t k_tiles_of_k = round_up_divide(problem.k, kernel.tile_k);
    const bool is_split =
        TailSplit::split_tiles(static_cast<int>(cluster_tiles % clusters), static_cast<int>(clusters),
                               static_cast<int>(std::min<std::int64_t>(k_tiles_of_k, INT32_MAX))) != 0;
    const double slowdown = !kernel.unaligned ? wgmma::tail_split
                            : on_l2_lines     ? 1
                                              : wgmma::unaligned_tail_split;
    const double last_wave = cluster_tiles % clusters == 0 ? 0
                             : is_split ? (slowdown * mainloop + storing) / 2 + wgmma::reduction_clocks
                                        : tile;
    const std::int64_t full_waves = cluster_tiles / clusters;
    return static_cast<double>(full_waves) * tile + last_wave;
  }
  const auto waves = static_cast<double>(round_up_divide(cluster_tiles, clusters));
  // One warpgroup multiplies while the other one stores.
  if (kernel.pingpong) {
    const double hidden = tma_can_store(given) ? 1 : wgmma::overlap_of_register_stores;
    return waves * (mainloop + (1 - hidden) * storing) + hidden * storing;
  }
  if (kernel.split == 1) return waves * tile;
  const auto most_k_tiles = static_cast<double>(round_up_divide(k_tiles, kernel.split));  // of a CTA
  const double reducing = wgmma::reduction_clocks + wgmma::further_reduction_clocks * (kernel.split - 2);
  return waves * (most_k_tiles * k_tile + storing + reducing);
}

// The cost but for the stores of a C in f32 that TMA cannot store.
double cost_with_tma_stores(const Kernel& kernel, const Gemm& problem,
                            const DeviceDescription& device) noexcept {
  if (kernel.instruction == Instruction::wgmma) return wgmma::unit * wgmma_clocks(kernel, problem, device);
  const double tiles = static_cast<double>(round_up_divide(problem.m, kernel.tile_m)) *
                       static_cast<double>(round_up_divide(problem.n, kernel.tile_n));
  const double speed = kernel.efficiency * tensor_rate(kernel.type) * wgmma::flop_per_clock / 2 / wgmma::unit;
  const double waves = std::ceil(
      tiles * kernel.split / (static_cast<double>(std::max(device.multiprocessors, 1)) * kernel.resident));
  // Of the CTA that has the most k-tiles.
  const std::int64_t k_tiles = round_up_divide(round_up_divide(problem.k, kernel.tile_k), kernel.split);
  const double mainloop = static_cast<double>(kernel.tile_m) * kernel.tile_n *
                          static_cast<double>(k_tiles * kernel.tile_k) / speed;
  return waves * kernel.resident * (mainloop + (kernel.split > 1 ? reduction : 0)) +
         waves * wgmma::unit * wgmma::mma_sync_tile_clocks;
}

}  // namespace

double estimated_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  const double cost = cost_with_tma_stores(kernel, problem, device);
  if (kernel.unaligned || bytes(result_of(problem).type) != 4 || tma_can_store(problem)) return cost;
  return cost + wgmma::unit * wgmma::unaligned_f32_store_clocks * static_cast<double>(problem.m) *
                    static_cast<double>(problem.n) / std::max(device.multiprocessors, 1);
}

double estimated_copy_cost(double bytes, bool transposed) noexcept {
  return wgmma::unit * (transposed ? wgmma::transposing_clocks + bytes / wgmma::transposed_bytes_per_clock
                                   : bytes / wgmma::copied_bytes_per_clock);
}

bool is_offered(const Kernel& kernel, const Gemm& problem) noexcept {
  return kernel.copy != Copy::module && kernel.fused == needs_fused_epilogue(problem);
}

const Kernel* select_kernel(const std::vector<Kernel>& list, const Gemm& problem,
                            const DeviceDescription& device, const RefusedKernels& refused) {
  // Of types other than 16-bit ones the kernels of mma.sync were not timed against those of wgmma: where a
  // wgmma kernel accepts the problem, they are left out.
  const auto yields = [](const Kernel& kernel) {
    return kernel.instruction == Instruction::mma_sync && bytes(kernel.type) != 2;
  };
  const Kernel* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Kernel& kernel : list) {
    if (!is_offered(kernel, problem) || !accepts(kernel, problem, device)) continue;
    if (std::find(refused.begin(), refused.end(), &kernel) != refused.end()) continue;
    // These store C element by element, which is slow.
    if (kernel.swap_ab && !kernel.unaligned && !tma_can_store(problem)) continue;
    if (kernel.unaligned && copy_alignment(problem.a) == 16 && copy_alignment(problem.b) == 16) continue;
    const double cost = estimated_cost(kernel, problem, device);
    const bool better = best == nullptr || (yields(kernel) == yields(*best) ? cost < least : yields(*best));
    if (!better) continue;
    least = cost;
    best = &kernel;
  }
  return best;
}

const Kernel* select_kernel(const Gemm& problem, const DeviceDescription& device) {
  return select_kernel(kernels(), problem, device);
}

}  // namespace tenon
