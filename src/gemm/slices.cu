// The kernels of products by slices around the product itself, and the launches of all steps.
#include "gemm/slices.hpp"

#include <algorithm>
#include <cmath>

#include "gemm/slices_combine.cuh"
#include "gemm/slices_residues.cuh"
#include "gemm/slices_shifts.cuh"

namespace tenon {
namespace slices {
namespace {

// Each kernel has both operands in its grid, along y or z: the end of one overlaps the beginning of the
// other.
extern "C" __global__ void __launch_bounds__(threads)
    tenon_slices_shifts(const __grid_constant__ ShiftTask task) {
  const ShiftOperand& operand = task.operand[blockIdx.y];
  if (operand.operand.k_contiguous) {
    shifts_of_rows(operand, task.limit);
  } else {
    shifts_of_columns(operand, task.limit);
  }
}

extern "C" __global__ void __launch_bounds__(threads)
    tenon_slices_residues(const __grid_constant__ ResidueTask task) {
  __shared__ __align__(16) double tile[tile_rows][tile_ld];
  const ResidueOperand& operand = task.operand[blockIdx.z];
#pragma unroll 1
  for (std::int64_t row = std::int64_t{blockIdx.y} * tile_rows; row < operand.rows;
       row += std::int64_t{gridDim.y} * tile_rows)
    residues_of_tile(task, operand, row, static_cast<int>(blockIdx.x) * tile_k, tile);
}

extern "C" __global__ void __launch_bounds__(threads)
    tenon_slices_combine(const __grid_constant__ CombineTask task) {
  const std::int64_t word = std::int64_t{blockIdx.x} * 64 + threadIdx.x % 64;
#pragma unroll 1
  for (std::int64_t row = std::int64_t{blockIdx.y} * (threads / 64) + threadIdx.x / 64; row < task.m;
       row += std::int64_t{gridDim.y} * (threads / 64))
    combine_row(task, row, word);
}

unsigned blocks(std::int64_t all, std::int64_t of_block) {
  return static_cast<unsigned>((all + of_block - 1) / of_block);
}
constexpr std::int64_t most_blocks_down = 65535;

Launch launch_of(const char* what, const char* entry, const void* function) {
  Launch launch;
  launch.what = what;
  launch.ptx = "slices";
  launch.entry = entry;
  launch.function = function;
  launch.block.x = threads;
  return launch;
}

// Of the sum of squares of the integers of a row. |a . b| <= |a| |b| must be below P / 2, by a margin for the
// roundings of the sums and of the quotient in integer_of(). Rounding makes |a| longer by at most half the
// root of k.
double limit_of(int count, int k) {
  const double most = std::sqrt(static_cast<double>(product_of_moduli(count)) / 2) * (1 - 0x1p-20);
  const double length = most - 0.5 * std::sqrt(static_cast<double>(k));
  return length * length;
}

Status launch_combine(Launcher& launcher, const CombineTask& task) noexcept {
  Launch launch = launch_of("the recombination of slices", "tenon_slices_combine",
                            reinterpret_cast<const void*>(&tenon_slices_combine));
  launch.grid = {blocks(task.n, 256),
                 std::min<unsigned>(blocks(task.m, threads / 64), static_cast<unsigned>(most_blocks_down))};
  launch.arguments.set(task);
  return launcher.launch(launch);
}

}  // namespace

// The largest integer of a row is from limit / (2 root of k) on, and the error of rounding is 1/2.
int bits_of(int count, int k) noexcept {
  return static_cast<int>(std::floor(std::log2(limit_of(count, k) / k) / 2));
}

Layout layout_of(std::int64_t m, std::int64_t n, std::int64_t k, int count) noexcept {
  const auto up = [](std::int64_t x, std::int64_t step) { return (x + step - 1) / step * step; };
  Layout layout{};
  layout.rows_a = up(m, cluster_rows);
  layout.rows_b = up(n, cluster_columns);
  layout.ld = up(k, 32);  // whole sectors of the L2
  layout.count = count;
  const auto bytes = [](std::int64_t x) { return static_cast<std::size_t>(x); };
  layout.shifts_a = 0;
  layout.shifts_b = layout.shifts_a + 4 * bytes(layout.rows_a);
  layout.residues_a = layout.shifts_b + 4 * bytes(layout.rows_b);
  layout.residues_b = layout.residues_a + bytes(count) * bytes(layout.rows_a) * bytes(layout.ld);
  layout.residues_c = layout.residues_b + bytes(count) * bytes(layout.rows_b) * bytes(layout.ld);
  layout.bytes = layout.residues_c + bytes(count) * bytes(layout.rows_a) * bytes(layout.rows_b);
  return layout;
}

Status find_shifts(Launcher& launcher, const Operand& a, const Operand& b, const Layout& layout,
                   unsigned char* workspace) noexcept {
  const ShiftTask task{{{a, reinterpret_cast<int*>(workspace + layout.shifts_a)},
                        {b, reinterpret_cast<int*>(workspace + layout.shifts_b)}},
                       limit_of(layout.count, a.k)};
  Launch launch = launch_of("the shifts of slices", "tenon_slices_shifts",
                            reinterpret_cast<const void*>(&tenon_slices_shifts));
  const auto of = [](const Operand& x) { return blocks(x.rows, x.k_contiguous ? threads / 32 : 32); };
  launch.grid = {std::max(of(a), of(b)), 2};
  launch.arguments.set(task);
  return launcher.launch(launch);
}

Status find_residues(Launcher& launcher, const Operand& a, const Operand& b, const Layout& layout,
                     unsigned char* workspace) noexcept {
  const auto operand = [&](const Operand& x, std::size_t shifts, std::size_t residues, std::int64_t rows) {
    return ResidueOperand{x, reinterpret_cast<const int*>(workspace + shifts),
                          reinterpret_cast<std::int8_t*>(workspace + residues), rows};
  };
  const ResidueTask task{{operand(a, layout.shifts_a, layout.residues_a, layout.rows_a),
                          operand(b, layout.shifts_b, layout.residues_b, layout.rows_b)},
                         layout.ld,
                         layout.count};
  Launch launch = launch_of("the conversion to slices", "tenon_slices_residues",
                            reinterpret_cast<const void*>(&tenon_slices_residues));
  launch.grid = {
      blocks(layout.ld, tile_k),
      std::min<unsigned>(blocks(std::max(layout.rows_a, layout.rows_b), tile_rows), most_blocks_down), 2};
  launch.arguments.set(task);
  return launcher.launch(launch);
}

Status combine(Launcher& launcher, std::int64_t m, std::int64_t n, const Layout& layout, const Destination& c,
               unsigned char* workspace) noexcept {
  return launch_combine(
      launcher, {recombination_of(layout.count), workspace + layout.residues_c, layout.rows_b,
                 layout.rows_a * layout.rows_b, reinterpret_cast<const int*>(workspace + layout.shifts_a),
                 reinterpret_cast<const int*>(workspace + layout.shifts_b), c, m, n, layout.count});
}

Status scale(Launcher& launcher, std::int64_t m, std::int64_t n, const Destination& c) noexcept {
  return launch_combine(launcher, {{}, nullptr, 0, 0, nullptr, nullptr, c, m, n, 0});
}

}  // namespace slices
}  // namespace tenon
