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

// A map of an operand in boxes of one part, where `parts` blocks copy a part each.
template <class Config, class Tile>
Status make_part_map(Launcher& launcher, const ConstMatrix& matrix, int extent, int k, int lines,
                     TensorMap* map) {
  return launcher.make_tensor_map(operand_in_memory<Tile>(matrix, extent, k), lines, Tile::panel_columns,
                                  map);
}

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

  // Lines beyond the matrix cost the copy engine as much as others: of a few rows of A only those are copied.
  constexpr int lines_a = Gemm_::template copy_lines<typename Config::TileA, Gemm_::parts_a>;
  constexpr int lines_b = Gemm_::template copy_lines<typename Config::TileB, Gemm_::parts_b>;
  arguments.box_rows = Gemm_::few_rows ? std::min(lines_a, (arguments.m + 7) / 8 * 8) : lines_a;
  typename Gemm_::MapA map_a;
  TensorMap map_b, map_c{};
  if constexpr (Gemm_::eighths) {
    const std::int64_t whole_tiles = std::int64_t{row_tiles_of_two_eighths(arguments.m)} * rows;
    const int m = static_cast<int>(std::min<std::int64_t>(whole_tiles, std::numeric_limits<int>::max()));
    arguments.raster = make_raster(m, arguments.n, rows, columns, square_band(clusters, rows, columns));
    if (Status s = make_maps_of_eighths(launcher, seen.a, arguments.m, arguments.k, 64, 64, &map_a); !s)
      return s;
  } else if (Status s = make_part_map<Config, typename Config::TileA>(
                 launcher, seen.a, arguments.m, arguments.k, arguments.box_rows, &map_a);
             !s) {
    return s;
  }
  if (Status s = make_part_map<Config, typename Config::TileB>(launcher, seen.b, arguments.n, arguments.k,
                                                               lines_b, &map_b);
      !s) {
    return s;
  }
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
  const int tiles = arguments.raster.tiles();
  const int slabs = arguments.k / Block::k + (arguments.k % Block::k != 0);
  const SharedOut shared = share_out(tiles, clusters, Gemm_::has_pairs ? slabs : 0);
  arguments.undivided = shared.undivided;
  launch->grid.x =
      static_cast<unsigned>(Cluster::blocks * (Cluster::blocks > 2 ? tiles : shared.busy_clusters));
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
  kernel.any_lda = Config::eighths;
  kernel.threads = GemmWgmma<Config>::threads;
  kernel.shared_bytes = GemmWgmma<Config>::shared_bytes;
  kernel.function = reinterpret_cast<const void*>(&gemm_wgmma<Config>);
  kernel.fill = &fill_wgmma<Config>;
  list.push_back(kernel);
}

// The four layouts of a tile of 16-bit operands. Schedule: Cooperative or Pingpong.
template <template <class> class Schedule, class Operands, class Block, int consumers, int stages,
          class Cluster, int staged>
void append_wgmma_layouts(std::vector<Kernel>& list) {
  append_wgmma<
      Schedule<WgmmaConfig<Operands, row_major, column_major, Block, consumers, stages, Cluster, staged>>>(
      list);
  append_wgmma<
      Schedule<WgmmaConfig<Operands, column_major, column_major, Block, consumers, stages, Cluster, staged>>>(
      list);
  append_wgmma<
      Schedule<WgmmaConfig<Operands, row_major, row_major, Block, consumers, stages, Cluster, staged>>>(list);
  append_wgmma<
      Schedule<WgmmaConfig<Operands, column_major, row_major, Block, consumers, stages, Cluster, staged>>>(
      list);
}

}  // namespace tenon
