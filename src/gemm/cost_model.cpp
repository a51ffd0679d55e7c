// The model that cost_model.hpp states.
#include "gemm/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "gemm/fitted_columns.hpp"
#include "gemm/problem_shape.hpp"
#include "gemm/result.hpp"
#include "gemm/select.hpp"
#include "gemm/swapped_operands.hpp"
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
  const double transposed = kernel.swap_ab ? c.transposed_store_clocks : 0;
  const double f32 = bytes(result_of(problem).type) == 4 ? c.f32_store_clocks : 0;
  if (!kernel.unaligned) return c.store_clocks + f32 + transposed;
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

// The part of the L2 that an operand of so many rows (columns) fills.
double part_of_l2(std::int64_t extent, const Gemm& problem, const DeviceDescription& device) noexcept {
  return static_cast<double>(extent) * static_cast<double>(problem.k) *
         static_cast<double>(bytes(problem.a.type)) / std::max(static_cast<double>(device.l2_bytes), 1.0);
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

// What a CTA of a wgmma kernel loads of an operand for a k-tile.
struct OperandLoads {
  double whole;     // bytes, if the cluster shared nothing
  double own;       // bytes, of these, that the CTA loads itself
  double fresh;     // bytes, of those, that no other SM near the same half of the L2 has brought there
  double requests;  // of each of its lines in a k-tile, for each CTA that loads at the same time
  double most;      // bytes in a clock, to an SM

  double received() const noexcept { return whole - own; }
};

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

struct KTileLoads {
  OperandLoads a, b;
  double memory;

  double unshared() const noexcept { return a.whole + b.whole; }
  // The time, where so many CTAs load at once, on such a part of the SMs.
  double clocks(double ctas, double part_of_sms, const CostParameters& c) const noexcept {
    const double from_l2 = c.bytes_per_clock / part_of_sms,
                 fresh = memory * c.fresh_bytes_per_clock / part_of_sms;
    return a.own / std::min(from_l2, a.most) + b.own / std::min(from_l2, b.most) +
           (a.fresh + b.fresh) / fresh + (a.received() + b.received()) / c.received_bytes_per_clock +
           c.line_clocks * ctas * (a.requests + b.requests);
  }
};

// CTAs of a cluster along m and n, columns of a tile, and tiles of C, with those beyond its rows and columns.
struct TileGrid {
  int along_m, along_n, columns;
  std::int64_t tiles_m, tiles_n;
};

// problem: as the tensor cores compute it.
KTileLoads loads_of(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device,
                    const CostParameters& c, const TileGrid& grid) noexcept {
  // A single tile along m or n loads no rows that the operand does not have (RegisterBudget::loads_residue).
  const auto loaded = [](int tile, std::int64_t extent, bool has_residue_extent) {
    return static_cast<double>(
        has_residue_extent ? std::min<std::int64_t>(tile, round_up_divide(extent, 8) * 8) : tile);
  };
  const double rows = loaded(kernel.rows(), problem.m, kernel.loads_residue && problem.a.order == row_major);
  // Of a B whose rows are contiguous whole panels of 128 bytes are loaded.
  const int panel = problem.b.order == column_major ? 1 : 128 / static_cast<int>(bytes(kernel.type));
  const double columns = loaded(static_cast<int>(round_up_divide(grid.columns, panel)) * panel, problem.n,
                                kernel.loads_residue && problem.b.order == column_major);
  const double row_bytes = static_cast<double>(kernel.tile_k) * static_cast<double>(bytes(kernel.type));
  // Kernels with row-interleaved views were fitted without the work of the L2.
  const bool is_row_interleaved = kernel.row_interleaved || kernel.unaligned;
  const auto work = [&](const ConstMatrix& matrix) { return is_row_interleaved ? 1 : l2_work(matrix, c); };
  const auto readers = [](std::int64_t tiles, int sharing) { return static_cast<double>(tiles) / sharing; };
  KTileLoads loads;
  loads.memory = memory_of(device, c);
  loads.a =
      loads_of(rows, row_bytes, work(problem.a), problem.m, grid.along_n, readers(grid.tiles_n, grid.along_n),
               part_of_l2(problem.m, problem, device), loads.memory, c);
  loads.b =
      loads_of(columns, row_bytes, work(problem.b), problem.n, grid.along_m,
               readers(grid.tiles_m, grid.along_m), part_of_l2(problem.n, problem, device), loads.memory, c);
  return loads;
}

// The time of a wgmma kernel in clocks, but for its start. A k-tile takes as long as its multiplication or
// its loads, whichever is longer (overlapped()). Each CTA of a cluster along m (n) loads a part of B (A) for
// all of them. A cluster computes all of its tiles, even those beyond the rows (columns) of C. start: the
// time before the kernel multiplies at its full rate, while the loads of its first k-tiles are under way and
// the CTAs of its clusters begin.
double wgmma_clocks(const Kernel& kernel, const Gemm& given, const DeviceDescription& device,
                    const CostParameters& c, double* start) noexcept {
  // The product that the tensor cores compute.
  const Gemm problem = kernel.swap_ab ? with_swapped_operands(given) : given;
  const int tile_m = kernel.rows();
  const int sms = std::max(device.multiprocessors, 1);
  const bool on_l2_lines = kernel.unaligned && begins_lines_of_the_l2(problem.a);
  const bool b_is_shared = on_l2_lines && shares_unaligned_b(problem.m, problem.n, tile_m, kernel.columns());
  const int sharing = kernel.cluster / kernel.split;
  const int along_n = b_is_shared ? 1 : kernel.swap_ab ? sharing / kernel.cluster_n : kernel.cluster_n;
  const int along_m = sharing / along_n;
  const int tile_n = columns_of_tiles(kernel, problem, along_m, along_n, device);
  const auto rows_of_c = static_cast<int>(problem.m);
  const std::int64_t tiles_m = kernel.row_interleaved ? RowInterleavedTiles<2>::tiles_of(rows_of_c)
                               : kernel.unaligned && copy_alignment(problem.a) < 16
                                   ? row_interleaved_tiles(rows_of_c, tile_m, 1)
                                   : round_up_divide(problem.m, std::int64_t{tile_m} * along_m) * along_m;
  const std::int64_t tiles_n = round_up_divide(problem.n, std::int64_t{tile_n} * along_n) * along_n;
  // Unaligned rows begin up to so many elements inside their first k-tile.
  const int leading = kernel.row_interleaved ? 7 : kernel.unaligned ? 15 : 0;
  const std::int64_t k_tiles = round_up_divide(problem.k + leading, kernel.tile_k);

  const double narrowed = static_cast<double>(kernel.columns() - tile_n) / kernel.columns();
  double multiplying = 2.0 * tile_m * kernel.columns() * kernel.tile_k * (1 - c.columns_clocks * narrowed) /
                       (c.flop_per_clock * tensor_rate(kernel.type) * kernel.efficiency);
  if (on_l2_lines) multiplying *= kernel.efficiency / c.unaligned_on_l2_lines;
  const KTileLoads loads = loads_of(kernel, problem, device, c, {along_m, along_n, tile_n, tiles_m, tiles_n});
  if (kernel.unaligned) {
    const double far = far_of(part_of_l2(std::max(problem.m, problem.n), problem, device), c);
    multiplying *= 1 + far * (kernel.efficiency / c.unaligned_from_memory - 1);
  }
  const int all_sms = device.is_limited() ? device.all_multiprocessors : sms;
  const std::int64_t clusters = clusters_at_once(kernel.cluster, sms);
  const std::int64_t cluster_tiles = tiles_m / along_m * (tiles_n / along_n);
  // The loads of a k-tile where so many clusters load at once: they share the bytes of the L2 and of memory.
  const auto loading_among = [&](std::int64_t loading_clusters) {
    const auto ctas = static_cast<double>(loading_clusters * kernel.cluster);
    return loads.clocks(ctas, ctas / all_sms, c);
  };
  const double loading = loading_among(std::min(cluster_tiles, clusters));
  const double k_tile = overlapped(multiplying, loading);
  // Of the last wave, which may have fewer clusters.
  const std::int64_t last_clusters = cluster_tiles % clusters == 0 ? clusters : cluster_tiles % clusters;
  const double last_k_tile = overlapped(multiplying, loading_among(last_clusters));
  *start = c.launch_clocks + c.start_k_tiles * std::min(multiplying, loading) + c.start_loads * loading +
           c.cluster_clocks * (kernel.cluster - 1) +
           (kernel.partial_bytes != 0 ? c.streamed_launch_clocks : 0);
  // Where the CTAs of a cluster share nothing, in tail split-K.
  const double unshared_k_tile = std::max(k_tile, loads.unshared() / c.bytes_per_clock);

  // The consumer warpgroups of a tile store their parts of it at the same time.
  // Of tiles of 64 rows, warps without a row of C do not store.
  const double stored_rows =
      tile_m == 64 ? static_cast<double>(std::min<std::int64_t>(round_up_divide(problem.m, 16) * 16, tile_m))
                   : tile_m;
  const int warpgroups = kernel.unaligned ? 1 : std::max(tile_m / std::max(kernel.warp_rows(), 1), 1);
  const double stored = stored_rows * tile_n / warpgroups;
  const double elements = static_cast<double>(tile_m) * tile_n / warpgroups;  // all are reduced
  const double storing = c.tile_clocks + clocks_of_element(kernel, given, c) * stored +
                         (tile_n % 64 != 0 && !kernel.swap_ab ? c.narrow_subtile_clocks : 0);
  // A last k-tile that holds only the leading elements takes one of its four wgmma steps.
  const double saved = kernel.unaligned && (problem.k - 1) % kernel.tile_k >= kernel.tile_k - 15 ? 0.75 : 0;
  const double multiplied_k_tiles = static_cast<double>(k_tiles) - saved;
  const double mainloop = multiplied_k_tiles * k_tile, last_mainloop = multiplied_k_tiles * last_k_tile;
  const double tile = mainloop + storing, last_tile = last_mainloop + storing;
  if (kernel.partial_bytes != 0) {
    const auto tiles = static_cast<int>(cluster_tiles), all = static_cast<int>(clusters),
               k_tiles_of_tile = static_cast<int>(k_tiles);
    const double operand_bytes =
        part_of_l2(problem.m + problem.n, problem, device) * static_cast<double>(device.l2_bytes);
    const StreamK division =
        StreamK::of(tiles, all, k_tiles_of_tile, StreamK::exceeds_l2(operand_bytes, device.l2_bytes));
    if (division.whole_tiles == tiles)
      return static_cast<double>(round_up_divide(tiles, all) - 1) * tile + last_tile;
    const int share = StreamK::share(tiles - division.whole_tiles, all, division.pieces);
    const auto received = static_cast<double>(round_up_divide(division.pieces - 1, share));
    return static_cast<double>(round_up_divide(division.whole_tiles, all)) * tile +
           share * mainloop / division.pieces + storing + c.streamed_clocks * elements * (1 + received) +
           c.streamed_wait_clocks;
  }
  if (kernel.splits_tail) {
    const std::int64_t k_tiles_of_k = round_up_divide(problem.k, kernel.tile_k);
    const bool is_split =
        TailSplit::split_tiles(static_cast<int>(cluster_tiles % clusters), static_cast<int>(clusters),
                               static_cast<int>(std::min<std::int64_t>(k_tiles_of_k, INT32_MAX))) != 0;
    const double slowdown = !kernel.unaligned ? unshared_k_tile / k_tile
                            : on_l2_lines     ? 1
                                              : c.unaligned_tail_split;
    const double last_wave = cluster_tiles % clusters == 0 ? 0
                             : is_split ? (slowdown * mainloop + storing) / 2 + c.reduction_clocks * elements
                                        : last_tile;
    const std::int64_t full_waves = cluster_tiles / clusters;
    return static_cast<double>(full_waves) * tile + last_wave;
  }
  const auto waves = static_cast<double>(round_up_divide(cluster_tiles, clusters));
  const bool is_persistent = kernel.cluster <= 2 || device.is_limited();
  const double again = is_persistent ? 0 : (waves - 1) * c.wave_clocks_of_large_clusters;
  // One warpgroup multiplies while the other one stores.
  if (kernel.pingpong) {
    const double hidden = tma_can_store(given) ? 1 : c.overlap_of_register_stores;
    return again + (waves - 1) * mainloop + last_mainloop + waves * (1 - hidden) * storing + hidden * storing;
  }
  if (kernel.split == 1) return again + (waves - 1) * tile + last_tile;
  const auto most_k_tiles = static_cast<double>(round_up_divide(k_tiles, kernel.split));  // of a CTA
  // Each CTA sends all but its share, and the CTA that adds up waits for the others in turn.
  const double reducing =
      c.reduction_clocks * elements * (1 + c.further_reduction * (std::log2(kernel.split) - 1));
  return again + most_k_tiles * ((waves - 1) * k_tile + last_k_tile) + waves * (storing + reducing);
}

// The cost but for the stores of a C that TMA cannot store.
double cost_with_tma_stores(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device,
                            const CostParameters& c) noexcept {
  if (kernel.instruction == Instruction::wgmma) {
    double start = 0;
    const double clocks = wgmma_clocks(kernel, problem, device, c, &start);
    return c.mma_sync_rate * (start + clocks);
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

double estimated_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device,
                      const CostParameters& c) noexcept {
  const double cost = cost_with_tma_stores(kernel, problem, device, c);
  if (kernel.unaligned || tma_can_store(problem)) return cost;
  const double clocks =
      bytes(result_of(problem).type) == 4 ? c.unaligned_f32_store_clocks : c.unaligned_16_bit_store_clocks;
  return cost + c.mma_sync_rate * clocks * static_cast<double>(problem.m) * static_cast<double>(problem.n) /
                    std::max(device.multiprocessors, 1);
}

double estimated_cost(const Kernel& kernel, const Gemm& problem, const DeviceDescription& device) noexcept {
  return estimated_cost(kernel, problem, device, cost_parameters(device));
}

double estimated_copy_cost(double bytes, bool transposed, const DeviceDescription& device) noexcept {
  constexpr CostParameters c;
  const double share =
      device.is_limited() ? static_cast<double>(device.multiprocessors) / device.all_multiprocessors : 1;
  return c.mma_sync_rate * (transposed ? c.transposing_clocks + bytes / (share * c.transposed_bytes_per_clock)
                                       : bytes / (share * c.copied_bytes_per_clock));
}

}  // namespace tenon
