// The wgmma family as rows of the kernel list (sm_90a): operands that the copy engine can address.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "gemm/describe.hpp"
#include "gemm/eighths.hpp"
#include "gemm/maps_of_eighths.hpp"
#include "gemm/pairs.hpp"
#include "gemm/square_band.hpp"
#include "gemm/turned_operands.hpp"
#include "tenon/gemm/gemm_wgmma.hpp"

namespace tenon {

// An operand as a kernel copies it. Tile: of a slab; Copy: TileCopy of it; rows: of the operand in a tile, or
// columns; `tiles` of them, some of which may lie beyond its `extent`.
template <class Tile, class Copy, int rows>
struct CopiedOperand {
  const ConstMatrix& matrix;
  int extent, k, tiles;

  // What the kernel copies of it (GemmArguments::copied_m). What a tile leaves of a slab must have been
  // written before, or be cleared, as a block does for its first one: so all, where some block comes to its
  // second tile before it has been around the ring.
  int copied(bool ring_is_written) const {
    const std::int64_t rest = extent - std::int64_t{tiles - 1} * rows;
    const bool is_cut = Copy::bytes_of(static_cast<int>(rest)) < Copy::bytes_of(all_of_it);
    return is_cut && (ring_is_written || tiles == 1) ? extent : all_of_it;
  }
  Status make_maps(Launcher& launcher, int /*copied*/, TileMap* maps) const {
    return launcher.make_tensor_map(operand_in_memory<Tile>(matrix, extent, k), Copy::lines,
                                    Tile::panel_columns, &maps->whole);
  }
  // copied: what copied() says, or all_of_it.
  Status make_maps(Launcher& launcher, int copied, TileMaps* maps) const {
    const MatrixInMemory operand = operand_in_memory<Tile>(matrix, extent, k);
    if (Status s = launcher.make_tensor_map(operand, Copy::lines, Tile::panel_columns, &maps->whole); !s)
      return s;
    const int lines = Copy::lines_of((extent - 1) % rows + 1);
    if (copied == all_of_it || lines == Copy::lines) {
      maps->last = maps->whole;
      return {};
    }
    return launcher.make_tensor_map(operand, lines, Tile::panel_columns, &maps->last);
  }
};

template <class Config>
Status fill_wgmma(const Kernel&, const Gemm& problem, const DeviceDescription& device, Launcher& launcher,
                  Launch* launch) {
  using Gemm_ = GemmWgmma<Config>;
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  const Gemm seen = Config::turned ? with_turned_operands(problem) : problem;
  GemmArguments arguments = make_arguments<Config>(seen);
  arguments.c.m = static_cast<int>(problem.m), arguments.c.n = static_cast<int>(problem.n);
  constexpr int rows = Block::m * Cluster::m, columns = Block::n * Cluster::n;
  // Multiprocessors come in pairs that a cluster of 2 fits. How many larger clusters run at once depends on
  // their grouping: the device then hands out tiles itself, a cluster each.
  const int clusters = std::max(1, device.multiprocessors / Cluster::blocks);
  arguments.raster =
      make_raster(arguments.m, arguments.n, rows, columns, square_band(clusters, rows, columns));

  typename Gemm_::MapA map_a;
  typename Gemm_::MapB map_b;
  TensorMap map_c{};
  if constexpr (Gemm_::eighths) {
    const std::int64_t whole_tiles = std::int64_t{row_tiles_of_two_eighths(arguments.m)} * rows;
    const int m = static_cast<int>(std::min<std::int64_t>(whole_tiles, std::numeric_limits<int>::max()));
    arguments.raster = make_raster(m, arguments.n, rows, columns, square_band(clusters, rows, columns));
  }
  const int tiles = arguments.raster.tiles();
  const int slabs = arguments.k / Block::k + (arguments.k % Block::k != 0);
  const SharedOut shared = share_out(tiles, clusters, Gemm_::has_pairs ? slabs : 0);
  const int launched = Cluster::blocks > 2 ? tiles : shared.busy_clusters;
  arguments.undivided = shared.undivided;
  const std::int64_t work = std::int64_t{shared.undivided} + (tiles - shared.undivided) * Cluster::blocks;
  const int least_slabs = slabs - (Cluster::k - 1) * ((slabs + Cluster::k - 1) / Cluster::k);  // of a block
  const bool ring_is_written = work <= launched || least_slabs >= Config::stages;

  const CopiedOperand<typename Config::TileA, typename Gemm_::CopyA, Block::m> a{
      seen.a, arguments.m, arguments.k, arguments.raster.tiles_m() * Cluster::m};
  const CopiedOperand<typename Config::TileB, typename Gemm_::CopyB, Block::n> b{
      seen.b, arguments.n, arguments.k, arguments.raster.tiles_n() * Cluster::n};
  if (Gemm_::cuts) {
    arguments.copied_m = a.copied(ring_is_written);
    arguments.copied_n = b.copied(ring_is_written);
  }
  if constexpr (Gemm_::eighths) {
    if (Status s = make_maps_of_eighths(launcher, seen.a, arguments.m, arguments.k, 64, 64, &map_a); !s)
      return s;
  } else if (Status s = a.make_maps(launcher, arguments.copied_m, &map_a); !s) {
    return s;
  }
  if (Status s = b.make_maps(launcher, arguments.copied_n, &map_b); !s) return s;
  if (!Gemm_::eighths && copy_engine_can_write(arguments.c)) {
    const int halves = static_cast<int>(bytes(problem.c.type) / 2);  // 16-bit elements of one of C
    const int box_lines = Config::turned ? turned_box_lines : staged_rows;
    const int width = Config::turned ? turned_box_width(Gemm_::storing_warps, 2 * halves) : staged_line_bytes;
    if (Status s = launcher.make_tensor_map(
            {problem.c.data, 2, arguments.c.m, halves * arguments.c.n, halves * problem.c.ld}, box_lines,
            width / 2, &map_c);
        !s) {
      return s;
    }
  }
  launch->overlaps_previous = true;
  launch->grid.x = static_cast<unsigned>(Cluster::blocks) * static_cast<unsigned>(launched);
  launch->arguments.set(map_a, map_b, map_c, arguments);
  return {};
}

template <class Config>
void append_wgmma(std::vector<Kernel>& list) {
  using Cluster = typename Config::Cluster;
  Kernel kernel = describe<Config>("wgmma");
  constexpr int cluster_m = Config::turned ? Cluster::n : Cluster::m;
  constexpr int cluster_n = Config::turned ? Cluster::m : Cluster::n;
  if (cluster_m * cluster_n > 1)
    kernel.name += "_c" + std::to_string(cluster_m) + "x" + std::to_string(cluster_n);
  if (Config::pingpong) kernel.name += "_pingpong";
  if (Config::promotes) kernel.name += "_promoted";
  if (Config::eighths) kernel.name += "_unaligned";
  if (Cluster::k > 1) kernel.name += "_k" + std::to_string(Cluster::k);
  kernel.minimum_sm = 90;
  kernel.exact_sm = true;
  kernel.copy = Copy::tma;
  kernel.instruction = Instruction::wgmma;
  kernel.cluster = Cluster::blocks;
  kernel.cluster_n = cluster_n;
  kernel.split = Cluster::k;
  kernel.promotes = Config::promotes;
  kernel.pingpong = Config::pingpong;
  kernel.stores_apart = GemmWgmma<Config>::stores_apart;
  kernel.cuts = GemmWgmma<Config>::cuts;
  kernel.any_lda = Config::eighths;
  kernel.threads = GemmWgmma<Config>::threads;
  kernel.shared_bytes = GemmWgmma<Config>::shared_bytes;
  kernel.function = reinterpret_cast<const void*>(&gemm_wgmma<Config>);
  kernel.fill = &fill_wgmma<Config>;
  list.push_back(kernel);
}

}  // namespace tenon
