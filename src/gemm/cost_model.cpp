// The model that cost_model.hpp states.
#include "gemm/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "gemm/cost_correction.hpp"
#include "gemm/fitted_columns.hpp"
#include "gemm/problem_shape.hpp"
#include "gemm/result.hpp"
#include "gemm/select.hpp"
#include "gemm/swapped_operands.hpp"
#include "gemm/wgmma_estimate.hpp"
#include "tenon/gemm/plan.hpp"
#include "tenon/gemm/row_interleaved.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/gemm/tile_scheduler_stream_k.hpp"
#include "tenon/gemm/tile_scheduler_unaligned.hpp"

namespace tenon {
namespace {

// Multiply-adds of the tensor cores in a clock, relative to 16-bit operands.
double tensor_rate(Type type) noexcept {
  return bytes(type) == 1 ? 2.0 : type == Type::tf32 ? 0.5 : type == Type::f64 ? 0.0625 : 1.0;
}

// The clocks that the epilogue takes for an element of C.
double clocks_of_element(const Kernel& kernel, const Gemm& problem, const CostParameters& c) noexcept {
  const double f32 = bytes(result_of(problem).type) == 4 ? c.f32_store_clocks : 0;
  if (!kernel.unaligned) return c.store_clocks + f32;
  if (problem.beta == 0.0 && result_of(problem).type == kernel.type) return c.unaligned_store_clocks;
  if (problem.beta == 0.0 && result_of(problem).type == Type::f32) return c.unaligned_to_f32_store_clocks;
  return c.unaligned_general_store_clocks;
}

// The work of the L2 for a row of an operand, relative to a row that is whole lines.
double l2_work(const ConstMatrix& matrix, const CostParameters& c) noexcept {
  return begins_lines_of_the_l2(matrix)     ? 1
         : begins_sectors_of_the_l2(matrix) ? c.line_crossing
                                            : c.sector_crossing;
}

// Of an operand of so many rows (columns), and of A and B together.
double operand_bytes(std::int64_t extent, const Gemm& problem) noexcept {
  return static_cast<double>(extent) * static_cast<double>(problem.k) *
         static_cast<double>(bytes(problem.a.type));
}
double operand_bytes(const Gemm& problem) noexcept {
  return operand_bytes(problem.m + problem.n, problem);
}

// The part of the L2 that an operand of so many rows (columns) fills.
double part_of_l2(std::int64_t extent, const Gemm& problem, const DeviceDescription& device) noexcept {
  return operand_bytes(extent, problem) / std::max(static_cast<double>(device.l2_bytes), 1.0);
}

// How far an operand that fills so much of the L2 is from an SM: from 0, where it is near, to 1.
double far_of(double part_of_l2, const CostParameters& c) noexcept {
  return std::clamp((part_of_l2 - c.near_part_of_l2) / c.far_part_of_l2, 0.0, 1.0);
}

// The longer of two times that overlap, and a little more the closer they are: the 4-norm.
double overlapped(double x, double y) noexcept {
  return std::sqrt(std::sqrt(x * x * x * x + y * y * y * y));
}

// The bandwidth of the memory for each SM, relative to that of the device whose rates the parameters are.
double memory_of(const DeviceDescription& device, const CostParameters& c) noexcept {
  if (device.memory_bytes_per_clock == 0) return 1;
  const int sms = device.is_limited() ? device.all_multiprocessors : device.multiprocessors;
  return device.memory_bytes_per_clock / (c.memory_bytes_per_clock * std::max(sms, 1));
}

// rows: of the tile; all_rows: of the operand; sharing: CTAs of a cluster that load the rows together;
// readers: clusters that read the same rows; memory: memory_of() the device.
OperandLoads loads_of(double rows, double row_bytes, double work, std::int64_t all_rows, int sharing,
                      double readers, double part_of_l2, double memory, const CostParameters& c) noexcept {
  OperandLoads loads;
  loads.whole = rows * row_bytes * work;
  loads.own = loads.whole / sharing;
  // Each half of the L2 fetches a line once, and half of the readers, on average, are near it.
  loads.fresh = loads.own * 2 * (1 - std::exp2(-readers)) / readers;
  loads.requests = loads.own / (static_cast<double>(std::max<std::int64_t>(all_rows, 64)) * row_bytes);
  const double far = far_of(part_of_l2, c);
  loads.most = 1 / ((1 - far) / c.most_bytes_per_clock + far / (memory * c.most_far_bytes_per_clock));
  return loads;
}

// The time of the loads of a k-tile in clocks, where so many CTAs load at once, on such a part of the SMs.
// memory: memory_of() the device.
double clocks_of(const KTileLoads& loads, double memory, double ctas, double part_of_sms,
                 const CostParameters& c) noexcept {
  const OperandLoads &a = loads.a, &b = loads.b;
  const double from_l2 = c.bytes_per_clock / part_of_sms,
               fresh = memory * c.fresh_bytes_per_clock / part_of_sms;
  return a.own / std::min(from_l2, a.most) + b.own / std::min(from_l2, b.most) + (a.fresh + b.fresh) / fresh +
         (a.received() + b.received()) / c.received_bytes_per_clock +
         c.line_clocks * ctas * (a.requests + b.requests);
}

// problem: as the tensor cores compute it.
KTileLoads loads_of(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device,
                    const CostParameters& c, const WgmmaEstimate& e) noexcept {
  // A single tile along m or n loads no rows that the operand does not have (RegisterBudget::loads_residue).
  const auto loaded = [](int tile, std::int64_t extent, bool has_residue_extent) {
    return static_cast<double>(
        has_residue_extent ? std::min<std::int64_t>(tile, round_up_divide(extent, 8) * 8) : tile);
  };
  const double rows = loaded(kernel.rows(), problem.m, kernel.loads_residue && problem.a.order == row_major);
  // Of a B whose rows are contiguous whole panels of 128 bytes are loaded.
  const int panel = problem.b.order == column_major ? 1 : 128 / static_cast<int>(bytes(kernel.type));
  const double columns = loaded(static_cast<int>(round_up_divide(e.columns, panel)) * panel, problem.n,
                                kernel.loads_residue && problem.b.order == column_major);
  const double row_bytes = static_cast<double>(kernel.tile_k) * static_cast<double>(bytes(kernel.type));
  // Kernels with row-interleaved views were fitted without the work of the L2.
  const bool is_row_interleaved = kernel.row_interleaved || kernel.unaligned;
  const auto work = [&](const ConstMatrix& matrix) { return is_row_interleaved ? 1 : l2_work(matrix, c); };
  const auto readers = [](std::int64_t tiles, int sharing) { return static_cast<double>(tiles) / sharing; };
  const double memory = memory_of(device, c);
  KTileLoads loads;
  loads.a = loads_of(rows, row_bytes, work(problem.a), problem.m, e.along_n, readers(e.tiles_n, e.along_n),
                     part_of_l2(problem.m, problem, device), memory, c);
  loads.b = loads_of(columns, row_bytes, work(problem.b), problem.n, e.along_m, readers(e.tiles_m, e.along_m),
                     part_of_l2(problem.n, problem, device), memory, c);
  return loads;
}

// The parts of the time of a wgmma kernel. A k-tile takes as long as its multiplication or its loads,
// whichever is longer (overlapped()). Each CTA of a cluster along m (n) loads a part of B (A) for all of
// them. A cluster computes all of its tiles, even those beyond the rows (columns) of C.
WgmmaEstimate parts_of_time(const Kernel& kernel, const Gemm& given, const DeviceDescription& device,
                            const CostParameters& c) noexcept {
  const Gemm problem = computed_problem(kernel, given);
  WgmmaEstimate e;
  const int tile_m = kernel.rows();
  const int sms = std::max(device.multiprocessors, 1);
  e.on_l2_lines = kernel.unaligned && begins_lines_of_the_l2(problem.a);
  const bool b_is_shared =
      e.on_l2_lines && shares_unaligned_b(problem.m, problem.n, tile_m, kernel.columns());
  const int sharing = kernel.cluster / kernel.split;
  e.along_n = b_is_shared ? 1 : kernel.swap_ab ? sharing / kernel.cluster_n : kernel.cluster_n;
  e.along_m = sharing / e.along_n;
  e.columns = columns_of_tiles(kernel, problem, e.along_m, e.along_n, device);
  const auto rows_of_c = static_cast<int>(problem.m);
  e.tiles_m = kernel.row_interleaved ? RowInterleavedTiles<2>::tiles_of(rows_of_c)
              : kernel.unaligned && copy_alignment(problem.a) < 16
                  ? row_interleaved_tiles(rows_of_c, tile_m, 1)
                  : round_up_divide(problem.m, std::int64_t{tile_m} * e.along_m) * e.along_m;
  e.tiles_n = round_up_divide(problem.n, std::int64_t{e.columns} * e.along_n) * e.along_n;
  // Unaligned rows begin up to so many elements inside their first k-tile.
  const int leading = kernel.row_interleaved ? 7 : kernel.unaligned ? 15 : 0;
  e.k_tiles = round_up_divide(problem.k + leading, kernel.tile_k);

  const double narrowed = static_cast<double>(kernel.columns() - e.columns) / kernel.columns();
  e.multiplying = 2.0 * tile_m * kernel.columns() * kernel.tile_k * (1 - c.columns_clocks * narrowed) /
                  (c.flop_per_clock * tensor_rate(kernel.type) * kernel.efficiency);
  if (e.on_l2_lines) e.multiplying *= kernel.efficiency / c.unaligned_on_l2_lines;
  e.loads = loads_of(kernel, problem, device, c, e);
  e.part_of_l2_a = part_of_l2(problem.m, problem, device);
  e.part_of_l2_b = part_of_l2(problem.n, problem, device);
  if (kernel.unaligned) {
    const double far = far_of(part_of_l2(std::max(problem.m, problem.n), problem, device), c);
    e.multiplying *= 1 + far * (kernel.efficiency / c.unaligned_from_memory - 1);
  }
  const int all_sms = device.is_limited() ? device.all_multiprocessors : sms;
  e.clusters = clusters_at_once(kernel.cluster, sms);
  e.cluster_tiles = e.tiles_m / e.along_m * (e.tiles_n / e.along_n);
  if (!kernel.unaligned) {
    const auto ctas = static_cast<int>(std::min(e.cluster_tiles, e.clusters)) * kernel.cluster;
    e.overlaps = overlap_pays(device, ctas, operand_bytes(problem));
  }
  // The loads of a k-tile where so many clusters load at once: they share the bytes of the L2 and of memory.
  const double memory = memory_of(device, c);
  const auto loading_among = [&](std::int64_t loading_clusters) {
    const auto ctas = static_cast<double>(loading_clusters * kernel.cluster);
    return clocks_of(e.loads, memory, ctas, ctas / all_sms, c);
  };
  e.loading = loading_among(std::min(e.cluster_tiles, e.clusters));
  e.k_tile = overlapped(e.multiplying, e.loading);
  // Of the last wave, which may have fewer clusters.
  const std::int64_t last = e.cluster_tiles % e.clusters;
  e.last_k_tile = overlapped(e.multiplying, loading_among(last == 0 ? e.clusters : last));
  e.start = c.launch_clocks + c.start_k_tiles * std::min(e.multiplying, e.loading) +
            c.cluster_clocks * (kernel.cluster - 1);

  // The consumer warpgroups of a tile store their parts of it at the same time.
  // Of tiles of 64 rows, warps without a row of C do not store.
  const double stored_rows =
      tile_m == 64 ? static_cast<double>(std::min<std::int64_t>(round_up_divide(problem.m, 16) * 16, tile_m))
                   : tile_m;
  const int warpgroups = kernel.unaligned ? 1 : std::max(tile_m / std::max(kernel.warp_rows(), 1), 1);
  e.storing = c.tile_clocks + clocks_of_element(kernel, given, c) * stored_rows * e.columns / warpgroups;
  e.elements = static_cast<double>(tile_m) * e.columns / warpgroups;
  return e;
}

// The time of a wgmma kernel in clocks, but for its start.
double wgmma_clocks(const WgmmaEstimate& e, const Kernel& kernel, const Gemm& given,
                    const DeviceDescription& device, const CostParameters& c) noexcept {
  const Gemm problem = computed_problem(kernel, given);
  // A last k-tile that holds only the leading elements takes one of its four wgmma steps.
  const double saved = kernel.unaligned && (problem.k - 1) % kernel.tile_k >= kernel.tile_k - 15 ? 0.75 : 0;
  const double multiplied_k_tiles = static_cast<double>(e.k_tiles) - saved;
  const double mainloop = multiplied_k_tiles * e.k_tile, last_mainloop = multiplied_k_tiles * e.last_k_tile;
  const double tile = mainloop + e.storing, last_tile = last_mainloop + e.storing;
  const std::int64_t in_last_wave = e.cluster_tiles % e.clusters;
  if (kernel.partial_bytes != 0) {
    const auto tiles = static_cast<int>(e.cluster_tiles), all = static_cast<int>(e.clusters),
               k_tiles_of_tile = static_cast<int>(e.k_tiles);
    const StreamK division = StreamK::of(tiles, all, k_tiles_of_tile,
                                         StreamK::exceeds_l2(operand_bytes(problem), device.l2_bytes));
    if (division.whole_tiles == tiles)
      return static_cast<double>(round_up_divide(tiles, all) - 1) * tile + last_tile;
    const int share = StreamK::share(tiles - division.whole_tiles, all, division.pieces);
    const auto received = static_cast<double>(round_up_divide(division.pieces - 1, share));
    return static_cast<double>(round_up_divide(division.whole_tiles, all)) * tile +
           share * mainloop / division.pieces + e.storing + c.streamed_clocks * e.elements * (1 + received);
  }
  if (kernel.splits_tail) {
    const std::int64_t k_tiles_of_k = round_up_divide(problem.k, kernel.tile_k);
    const bool is_split =
        TailSplit::split_tiles(static_cast<int>(in_last_wave), static_cast<int>(e.clusters),
                               static_cast<int>(std::min<std::int64_t>(k_tiles_of_k, INT32_MAX))) != 0;
    // The CTAs of a split tile's cluster share nothing.
    const double unshared_k_tile = std::max(e.k_tile, e.loads.unshared() / c.bytes_per_clock);
    const double slowdown = !kernel.unaligned ? unshared_k_tile / e.k_tile
                            : e.on_l2_lines   ? 1
                                              : c.unaligned_tail_split;
    const double last_wave = in_last_wave == 0 ? 0
                             : is_split
                                 ? (slowdown * mainloop + e.storing) / 2 + c.reduction_clocks * e.elements
                                 : last_tile;
    const std::int64_t full_waves = e.cluster_tiles / e.clusters;
    return static_cast<double>(full_waves) * tile + last_wave;
  }
  const auto waves = static_cast<double>(round_up_divide(e.cluster_tiles, e.clusters));
  const bool is_persistent = kernel.cluster <= 2 || device.is_limited();
  const double again = is_persistent ? 0 : (waves - 1) * c.wave_clocks_of_large_clusters;
  // One warpgroup multiplies while the other one stores.
  if (kernel.pingpong) {
    const double hidden = tma_can_store(given) ? 1 : c.overlap_of_register_stores;
    return again + (waves - 1) * mainloop + last_mainloop + waves * (1 - hidden) * e.storing +
           hidden * e.storing;
  }
  if (kernel.split == 1) return again + (waves - 1) * tile + last_tile;
  const auto most_k_tiles = static_cast<double>(round_up_divide(e.k_tiles, kernel.split));  // of a CTA
  // Each CTA sends all but its share, and the CTA that adds up waits for the others in turn.
  const double reducing = c.reduction_clocks * e.elements;
  return again + most_k_tiles * ((waves - 1) * e.k_tile + e.last_k_tile) + waves * (e.storing + reducing);
}

// The cost but for the stores of a C that TMA cannot store.
double cost_with_tma_stores(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device,
                            const CostParameters& c) noexcept {
  if (kernel.instruction == Instruction::wgmma) {
    const WgmmaEstimate e = parts_of_time(kernel, problem, device, c);
    return c.mma_sync_rate * (e.start + wgmma_clocks(e, kernel, problem, device, c));
  }
  const double tiles = static_cast<double>(round_up_divide(problem.m, kernel.tile_m)) *
                       static_cast<double>(round_up_divide(problem.n, kernel.tile_n));
  const double speed = kernel.efficiency * tensor_rate(kernel.type) * c.flop_per_clock / 2 / c.mma_sync_rate;
  const double waves = std::ceil(
      tiles * kernel.split / (static_cast<double>(std::max(device.multiprocessors, 1)) * kernel.resident));
  // Of the CTA that has the most k-tiles.
  const std::int64_t k_tiles = round_up_divide(round_up_divide(problem.k, kernel.tile_k), kernel.split);
  const double mainloop = static_cast<double>(kernel.tile_m) * kernel.tile_n *
                          static_cast<double>(k_tiles * kernel.tile_k) / speed;
  return waves * kernel.resident * (mainloop + (kernel.split > 1 ? c.mma_sync_reduction : 0)) +
         waves * c.mma_sync_rate *
             (c.mma_sync_tile_clocks +
              (tma_can_store(problem) ? c.mma_sync_store_clocks : c.mma_sync_unaligned_store_clocks) *
                  kernel.tile_m * kernel.tile_n);
}

}  // namespace

const CostParameters& cost_parameters(const DeviceDescription&) noexcept {
  static constexpr CostParameters of_hopper;
  return of_hopper;
}

double modelled_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device,
                     const CostParameters& c) noexcept {
  const double cost = cost_with_tma_stores(kernel, problem, device, c);
  if (kernel.unaligned || tma_can_store(problem)) return cost;
  const double clocks =
      bytes(result_of(problem).type) == 4 ? c.unaligned_f32_store_clocks : c.unaligned_16_bit_store_clocks;
  return cost + c.mma_sync_rate * clocks * static_cast<double>(problem.m) * static_cast<double>(problem.n) /
                    std::max(device.multiprocessors, 1);
}

double modelled_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  return modelled_cost(kernel, problem, device, cost_parameters(device));
}

WgmmaEstimate wgmma_estimate(const Kernel& kernel, const Gemm& problem,
                             const DeviceDescription& device) noexcept {
  return parts_of_time(kernel, problem, device, cost_parameters(device));
}

double cost_correction(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  if (!is_corrected(kernel)) return 1;
  return cost_correction(cost_features(kernel, problem, wgmma_estimate(kernel, problem, device)));
}

double estimated_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  return modelled_cost(kernel, problem, device) * cost_correction(kernel, problem, device);
}

double estimated_copy_cost(double bytes, bool transposed, const DeviceDescription& device) noexcept {
  constexpr CostParameters c;
  const double share =
      device.is_limited() ? static_cast<double>(device.multiprocessors) / device.all_multiprocessors : 1;
  return c.mma_sync_rate * (transposed ? c.transposing_clocks + bytes / (share * c.transposed_bytes_per_clock)
                                       : bytes / (share * c.copied_bytes_per_clock));
}

}  // namespace tenon
