// The choice among kernels: acceptance first, then the cost model that select.hpp states.
#include "gemm/select.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gemm/eighths.hpp"
#include "gemm/pairs.hpp"
#include "gemm/turned_operands.hpp"
#include "tenon/gemm/output.hpp"

namespace tenon {
namespace {

// What the wgmma kernels reach, in clocks of a multiprocessor. Fitted to the time of each of them, of bf16,
// on an H200, at the 60 shapes of the suite `models` and 8 others: what it chose then took 0.4 % longer than
// the best in the mean, and 6 % at most. Kernels that compute the transpose of C came later
// (boxed_clocks).
namespace wgmma {
constexpr double flop_per_clock = 4096;       // of 16-bit operands, times Kernel::efficiency
constexpr double bytes_per_clock = 56;        // that a multiprocessor gets from the L2,
constexpr double new_bytes_per_clock = 33.5;  // and from memory: of operands that fill more
constexpr double part_of_l2 = 0.75;           // than this of the L2
// How much longer it takes for lines that do not begin on its sectors, 32 bytes. Fitted to all kernels at 19
// products with such lines: what it chooses takes 1.5 % longer than the best in the mean, 13 % at most; as if
// there were no difference, 5.7 and 25 %.
constexpr double torn = 1.6;
constexpr double start_clocks = 110;      // of a tile beside its slabs, and
constexpr double element_clocks = 0.092;  // for each element of C in it: all multiprocessors store at once.
// Less where the code that stores is compiled apart (GemmWgmma::stores_apart), of tiles of 128 rows and of
// 256: what 2048^3 in 128x256 and 8192^3 in 256x200 gained.
constexpr double apart_of_128 = 0.02, apart_of_256 = 0.039;
// And of one of 4 bytes, beside that: 4096^3 with C in f32 takes 128x256 and 128x128 by turns as long in a
// burst, and sustained the latter 1.2, 1.1 and -0.6 % less, in three runs on two chips.
constexpr double word_clocks = 0.002;
// And of one of 4 bytes in rows that the copy engine cannot write, beside that: 4095^3 takes 228 us with C in
// f32, 217 in bf16 (padded copies, 128x256), 4095 x 4095 x 511 56 and 40 (128x128 by turns). How it differs
// from kernel to kernel was not measured: it is the same for all but those that carry such rows by lines.
constexpr double odd_word_clocks = 0.15;
// And of one that leaves transposed (Turned), beside that: fitted to all kernels at 57 products, of which
// what it chooses takes 1.4 % longer than the best in the mean; 2.5 % with 0.02, which was a guess.
constexpr double boxed_clocks = 0.06;
constexpr double narrow_clocks = 520;       // of the narrow strip of C that ends a tile (StoreStaged)
constexpr double hidden_of_odd_rows = 0.4;  // part of the stores that ping-pong hides if the warps carry C
constexpr double adding_clocks = 2950;      // of the sums of two blocks that divide a k,
constexpr double further_clocks = 800;      // and of each further one
constexpr double tile_clocks = 300;         // of a tile of other kernels beside its slabs
// Clusters of more than two do not fill the groups that multiprocessors come in.
constexpr double reached_by_large_clusters = 10.0 / 11;
// Multiply-adds at the speed of the largest TMA tile (555 TFLOP/s) in a clock: the unit of other kernels.
constexpr double unit = 1200;
// Copies of operands, measured alone at 2 to 34 MB: a launch that transposes, and bytes of the copy a clock.
constexpr double transposing_clocks = 2000, transposed_bytes_per_clock = 900, copied_bytes_per_clock = 1040;
// Where both operands are unaligned and fill more than that part of the L2: TMA limits, with lines in two
// parts each. And what a tile takes beside its slabs, by its elements: where C is the sums rounded to the
// type of the operands, where it is the sums in f32, and where it is anything else. Fitted to 11 products
// from 4095 x 4095 x 511 to 6000^3 and what is chosen for them without such kernels: what is chosen with them
// is 5 % slower than the other in one, else as fast or faster. (All of these take up to a fifth longer than
// is estimated.)
constexpr double anywhere_from_memory = 0.88;
// Where the operand that stays in shared memory lies in whole lines of the L2: 2048^3 with lda 2049 in
// 128x256 has 705 TFLOP/s, in 256x128 656; 12288 x 1024 x 2048 with lda 2049 716 and 653.
constexpr double anywhere_in_whole_lines = 0.97;
constexpr double anywhere_element_clocks = 0.15, anywhere_f32_element_clocks = 0.2,
                 anywhere_any_element_clocks = 0.9;
// How much longer a slab takes a block that shares nothing, being paired. Of 1228 products the first changed
// the choice for 21, which then took 5 % less in the mean: 2520 x 872 x 2112 31 %, but 9536 x 200 x 11008 9 %
// more. The second where both lie anywhere: by the lines of the L2 that the block copies, 768 instead of 512.
// Not measured.
constexpr double alone = 1.12, anywhere_alone = 1.5;
}  // namespace wgmma

// Multiply-adds of the tensor cores in a clock, those of 16-bit operands being 1.
double tensor_rate(Type type) noexcept {
  return bytes(type) == 1 ? 2.0 : type == Type::tf32 ? 0.5 : 1.0;
}

const char* words(Order order) noexcept {
  return order == row_major ? "row-major" : "column-major";
}

// Whether its last tiles are computed by two blocks each if they are few: GemmWgmma::has_pairs,
// GemmUnaligned.
bool ends_in_pairs(const Kernel& kernel) noexcept {
  return kernel.instruction == Instruction::wgmma && kernel.cluster == 2 && kernel.split == 1 &&
         kernel.warp_rows() > 64 && !kernel.pingpong;
}

// What adding up the sums of a cluster costs each of its tiles, in multiply-adds at speed 1.
constexpr double exchange = 2.7e6;

std::int64_t round_up_divide(std::int64_t x, std::int64_t y) noexcept {
  return x / y + (x % y != 0 ? 1 : 0);
}

bool copy_engine_can_write(const Gemm& problem) noexcept {
  return tenon::copy_engine_can_write(Output{problem.c.data, problem.c.ld, static_cast<int>(problem.m),
                                             static_cast<int>(problem.n), problem.c.type});
}

// A tensor map holds strides below 2^40 bytes.
constexpr std::int64_t longest_tma_stride = (std::int64_t{1} << 40) - 16;

// The largest leading dimension of an operand: strides are those of eight lines where lines are taken in
// eighths.
std::int64_t largest_ld(const Kernel& kernel) noexcept {
  const int lines = kernel.any_lda || kernel.anywhere ? 8 : 1;
  return longest_tma_stride / (lines * static_cast<std::int64_t>(bytes(kernel.type)));
}

// The same of C, if the kernel has it written by the copy engine, which knows it by a tensor map too.
std::int64_t largest_ldc(const Kernel& kernel, const Gemm& problem) noexcept {
  const bool has_map = kernel.instruction == Instruction::wgmma && !kernel.any_lda && !kernel.anywhere &&
                       copy_engine_can_write(problem);
  return has_map ? longest_tma_stride / static_cast<std::int64_t>(bytes(problem.c.type))
                 : std::numeric_limits<std::int64_t>::max();
}

// Blocks that compute C, one a tile, in whole clusters. (Rows of kernels that read A in eighths: eight tiles
// at a time, or less.)
std::int64_t blocks_of(const Kernel& kernel, const Gemm& problem) noexcept {
  const int sharing = kernel.cluster / kernel.split, along_n = kernel.cluster_n;
  const int along_m = kernel.any_lda || (kernel.anywhere && !kernel.turned) ? 8 : sharing / along_n;
  return round_up_divide(problem.m, std::int64_t{kernel.tile_m} * along_m) * along_m *
         round_up_divide(problem.n, std::int64_t{kernel.tile_n} * along_n) * along_n * kernel.split;
}
constexpr std::int64_t most_blocks = std::numeric_limits<std::int32_t>::max();  // of a grid

// The longest rows of C. Kernels that compute its transpose count their bytes, of f32, in 31 bits; the other
// wgmma kernels count elements of 16 bits, as which the copy engine stores them.
std::int64_t most_columns(const Kernel& kernel, const Gemm& problem) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (kernel.turned && !kernel.anywhere) return most / 4;
  return kernel.instruction == Instruction::wgmma && bytes(problem.c.type) == 4 ? most / 2 : most;
}

// Why a kernel does not take a problem. Found without a sentence: a choice asks every kernel, and formatting
// text for each that does not fit would cost more than a small product.
enum class Misfit {
  none,
  type,
  promotion,
  accumulate,
  a_order,
  b_order,
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
  blocks
};

Misfit misfit_of_kind(const Kernel& kernel, const Gemm& problem) noexcept {
  if (problem.a.type != kernel.type || problem.b.type != kernel.type_b) return Misfit::type;
  if (problem.promote != kernel.promotes) return Misfit::promotion;
  if (problem.accumulate != kernel.accumulate) return Misfit::accumulate;
  if (problem.a.order != kernel.a_order) return Misfit::a_order;
  if (problem.b.order != kernel.b_order) return Misfit::b_order;
  return Misfit::none;
}

Misfit misfit(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  if (const Misfit why = misfit_of_kind(kernel, problem); why != Misfit::none) return why;
  // The module copies 16 bytes along k or nothing.
  if (kernel.copy == Copy::module && problem.k % 8 != 0) return Misfit::k_multiple;
  if (kernel.copy == Copy::module && problem.c.type != Type::f16) return Misfit::output_type;
  if (problem.n > most_columns(kernel, problem)) return Misfit::columns;
  if (blocks_of(kernel, problem) > most_blocks) return Misfit::blocks;
  if (kernel.exact_sm ? device.sm != kernel.minimum_sm : device.sm < kernel.minimum_sm)
    return Misfit::architecture;
  if (kernel.shared_bytes > device.shared_bytes_per_block_optin) return Misfit::shared_memory;
  if (kernel.copy == Copy::any) return Misfit::none;
  if (!kernel.anywhere && (kernel.any_lda ? !begins_aligned(problem.a) : copy_alignment(problem.a) < 16))
    return Misfit::a_alignment;
  if (!(kernel.anywhere && !kernel.turned) && copy_alignment(problem.b) < 16) return Misfit::b_alignment;
  if (kernel.copy != Copy::tma) return Misfit::none;
  if (problem.a.ld > largest_ld(kernel)) return Misfit::lda;
  if (problem.b.ld > largest_ld(kernel)) return Misfit::ldb;
  return problem.c.ld > largest_ldc(kernel, problem) ? Misfit::ldc : Misfit::none;
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
      return Status(StatusCode::unsupported, "kernel %s multiplies %s by %s but A is %s and B is %s", who,
                    name(kernel.type), name(kernel.type_b), name(problem.a.type), name(problem.b.type));
    case Misfit::promotion:
      return Status(StatusCode::unsupported, "kernel %s %s its sums but the problem asks %s", who,
                    kernel.promotes ? "promotes" : "does not promote",
                    problem.promote ? "for it" : "for sums that are not promoted");
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
      return ld_sentence(who, 'c', problem.c.ld, largest_ldc(kernel, problem));
    case Misfit::blocks:
      return Status(StatusCode::unsupported,
                    "kernel %s needs at most %lld blocks, each of a tile of %d x %d, but C has %lld", who,
                    static_cast<long long>(most_blocks), kernel.tile_m, kernel.tile_n,
                    static_cast<long long>(blocks_of(kernel, problem)));
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

// Whether every row (column) begins on a multiple of so many bytes, a power of two.
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

// What an element of C adds to the time of its tile.
double clocks_of_element(const Kernel& kernel, const Gemm& problem) noexcept {
  const double boxed = kernel.turned ? wgmma::boxed_clocks : 0;
  // What was fitted to tiles by turns has code of its own for stores; of tiles of 128 rows it saves little
  // where C has 4 bytes, and of 256x160, of which a warp lays down one strip at a time, it was not measured.
  const bool apart = kernel.stores_apart && !kernel.pingpong && kernel.columns() != 160 &&
                     bytes(kernel.type) == 2 && problem.beta == 0.0F && copy_engine_can_write(problem);
  if (apart && kernel.rows() == 256) return wgmma::element_clocks - wgmma::apart_of_256 + boxed;
  if (apart && bytes(problem.c.type) == 2) return wgmma::element_clocks - wgmma::apart_of_128 + boxed;
  const double of_word = bytes(problem.c.type) == 4 ? wgmma::word_clocks : 0;
  if (!kernel.anywhere) return wgmma::element_clocks + of_word + boxed;
  if (problem.beta == 0.0F && problem.c.type == kernel.type) return wgmma::anywhere_element_clocks;
  if (problem.beta == 0.0F && problem.c.type == Type::f32) return wgmma::anywhere_f32_element_clocks;
  return wgmma::anywhere_any_element_clocks;
}

// What the lines of an operand take the L2, those that begin on its sectors being 1.
double effort(const ConstMatrix& matrix) noexcept {
  return begins_sectors_of_the_l2(matrix) ? 1 : wgmma::torn;
}

// The time of a wgmma kernel in clocks. A slab takes as long as its multiplication or its copy, whichever is
// longer. Blocks of a cluster along m (n) copy a part of B (A) each, and compute whether C has rows (columns)
// for all of them or not.
double wgmma_clocks(const Kernel& kernel, const Gemm& given, const DeviceDescription& device) noexcept {
  // As the tensor core has it.
  const Gemm problem = kernel.turned ? with_turned_operands(given) : given;
  const int tile_m = kernel.rows(), tile_n = kernel.columns();
  const int multiprocessors = std::max(device.multiprocessors, 1);
  const bool whole_lines = kernel.anywhere && begins_lines_of_the_l2(problem.a);
  const bool b_is_shared = whole_lines && shares_b(problem.m, problem.n, tile_m, tile_n);
  const int sharing = kernel.cluster / kernel.split;
  const int along_n = b_is_shared ? 1 : kernel.turned ? sharing / kernel.cluster_n : kernel.cluster_n;
  const int along_m = sharing / along_n;
  const auto rows_of_c = static_cast<int>(problem.m);
  const std::int64_t tiles_m = kernel.any_lda ? row_tiles_of_two_eighths(rows_of_c)
                               : kernel.anywhere && copy_alignment(problem.a) < 16
                                   ? row_tiles_of_eighths(rows_of_c, tile_m, 1)
                                   : round_up_divide(problem.m, std::int64_t{tile_m} * along_m) * along_m;
  const std::int64_t tiles_n = round_up_divide(problem.n, std::int64_t{tile_n} * along_n) * along_n;
  // Elements by which lines begin further right, or slabs before them.
  const int further = kernel.any_lda ? 7 : kernel.anywhere ? 15 : 0;
  const std::int64_t slabs = round_up_divide(problem.k + further, kernel.tile_k);

  double multiplying = 2.0 * tile_m * tile_n * kernel.tile_k /
                       (wgmma::flop_per_clock * tensor_rate(kernel.type) * kernel.efficiency);
  if (whole_lines) multiplying *= kernel.efficiency / wgmma::anywhere_in_whole_lines;
  // (What reads eighths of lines was fitted as a whole.)
  const bool reads_eighths = kernel.any_lda || kernel.anywhere;
  // Where there is but one tile along m or n, no more lines are copied than the operand has
  // (GemmWgmma::cuts).
  const auto lines = [&](int tile, std::int64_t extent, bool is_cut) {
    return static_cast<double>(is_cut ? std::min<std::int64_t>(tile, round_up_divide(extent, 8) * 8) : tile);
  };
  const double rows = lines(tile_m, problem.m, kernel.cuts && problem.a.order == row_major);
  const double columns = lines(tile_n, problem.n, kernel.cuts && problem.b.order == column_major);
  const double line = static_cast<double>(kernel.tile_k) * static_cast<double>(bytes(kernel.type));
  const double of_a = reads_eighths ? 1 : effort(problem.a), of_b = reads_eighths ? 1 : effort(problem.b);
  double copying = (rows / along_n * of_a + columns / along_m * of_b) * line / wgmma::bytes_per_clock;
  const double operands = (static_cast<double>(problem.m) + static_cast<double>(problem.n)) *
                          static_cast<double>(problem.k) * static_cast<double>(bytes(kernel.type));
  if (operands > wgmma::part_of_l2 * static_cast<double>(device.l2_bytes)) {
    // What is not in the L2 from another tile.
    const double once = rows / static_cast<double>(tiles_n) + columns / static_cast<double>(tiles_m);
    copying = std::max(copying, once * line / wgmma::new_bytes_per_clock);
    if (kernel.anywhere) multiplying *= kernel.efficiency / wgmma::anywhere_from_memory;
  }
  const double slab = std::max(multiplying, copying);

  const double storing = wgmma::start_clocks + clocks_of_element(kernel, given) * tile_m * tile_n +
                         (tile_n % 64 != 0 && !kernel.turned ? wgmma::narrow_clocks : 0);
  // What lines that begin further right leave for the last slab takes one step of its four.
  const double almost_nothing =
      kernel.anywhere && (problem.k - 1) % kernel.tile_k >= kernel.tile_k - 15 ? 0.75 : 0;
  const double products = (static_cast<double>(slabs) - almost_nothing) * slab, whole = products + storing;
  const double reached = kernel.cluster > 2 ? wgmma::reached_by_large_clusters : 1;
  const auto clusters =
      std::max<std::int64_t>(static_cast<std::int64_t>(multiprocessors * reached) / kernel.cluster, 1);
  const std::int64_t work = tiles_m / along_m * (tiles_n / along_n);  // of a cluster each
  if (ends_in_pairs(kernel)) {
    const std::int64_t slabs_of_k = round_up_divide(problem.k, kernel.tile_k);
    const bool paired = tiles_in_pairs(static_cast<int>(work % clusters), static_cast<int>(clusters),
                                       static_cast<int>(std::min<std::int64_t>(slabs_of_k, INT32_MAX))) != 0;
    const double alone = !kernel.anywhere ? wgmma::alone : whole_lines ? 1 : wgmma::anywhere_alone;
    const double last = work % clusters == 0 ? 0
                        : paired             ? (alone * products + storing) / 2 + wgmma::adding_clocks
                                             : whole;
    const std::int64_t full_rounds = work / clusters;
    return static_cast<double>(full_rounds) * whole + last;
  }
  const auto rounds = static_cast<double>(round_up_divide(work, clusters));
  // One warpgroup multiplies while the other stores.
  if (kernel.pingpong) {
    const double hidden = copy_engine_can_write(given) ? 1 : wgmma::hidden_of_odd_rows;
    return rounds * (products + (1 - hidden) * storing) + hidden * storing;
  }
  if (kernel.split == 1) return rounds * whole;
  const auto most = static_cast<double>(round_up_divide(slabs, kernel.split));  // slabs of a block
  const double adding = wgmma::adding_clocks + wgmma::further_clocks * (kernel.split - 2);
  return rounds * (most * slab + storing + adding);
}

double cost_without_odd_words(const Kernel& kernel, const Gemm& problem,
                              const DeviceDescription& device) noexcept {
  if (kernel.instruction == Instruction::wgmma) return wgmma::unit * wgmma_clocks(kernel, problem, device);
  const double tiles = static_cast<double>(round_up_divide(problem.m, kernel.tile_m)) *
                       static_cast<double>(round_up_divide(problem.n, kernel.tile_n));
  const double speed = kernel.efficiency * wgmma::flop_per_clock / 2 / wgmma::unit;
  const double rounds = std::ceil(
      tiles * kernel.split / (static_cast<double>(std::max(device.multiprocessors, 1)) * kernel.resident));
  // The block with most slabs, as the kernel divides them.
  const std::int64_t slabs = round_up_divide(round_up_divide(problem.k, kernel.tile_k), kernel.split);
  const double products =
      static_cast<double>(kernel.tile_m) * kernel.tile_n * static_cast<double>(slabs * kernel.tile_k) / speed;
  return rounds * kernel.resident * (products + (kernel.split > 1 ? exchange : 0)) +
         rounds * wgmma::unit * wgmma::tile_clocks;
}

}  // namespace

double estimated_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  const bool odd_words = !kernel.anywhere && bytes(problem.c.type) == 4 && !copy_engine_can_write(problem);
  const double of_odd_words = wgmma::unit * wgmma::odd_word_clocks * static_cast<double>(problem.m) *
                              static_cast<double>(problem.n) / std::max(device.multiprocessors, 1);
  return cost_without_odd_words(kernel, problem, device) + (odd_words ? of_odd_words : 0);
}

double estimated_copy_cost(double bytes, bool transposed) noexcept {
  return wgmma::unit * (transposed ? wgmma::transposing_clocks + bytes / wgmma::transposed_bytes_per_clock
                                   : bytes / wgmma::copied_bytes_per_clock);
}

const Kernel* select_kernel(const std::vector<Kernel>& list, const Gemm& problem,
                            const DeviceDescription& device, const RefusedKernels& refused) {
  const Kernel* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Kernel& kernel : list) {
    if (kernel.copy == Copy::module || !accepts(kernel, problem, device)) continue;
    if (std::find(refused.begin(), refused.end(), &kernel) != refused.end()) continue;
    // Element by element: slow.
    if (kernel.turned && !kernel.anywhere && !copy_engine_can_write(problem)) continue;
    if (kernel.anywhere && copy_alignment(problem.a) == 16 && copy_alignment(problem.b) == 16) continue;
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
