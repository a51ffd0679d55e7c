// The launch plan of a grouped product on sm_90a: from a problem to tensor maps, raster, grid and arguments.
// Host code; the launcher makes the tensor maps. Below: kernel_wgmma_grouped.hpp, plan.hpp,
// problem_grouped.hpp.
#pragma once

#include "tenon/gemm/kernel_wgmma_grouped.hpp"
#include "tenon/gemm/plan.hpp"
#include "tenon/gemm/problem_grouped.hpp"

namespace tenon {

// Rows of C in all, gaps between the C of two groups included.
inline std::int64_t rows_of_all_groups(const GroupedGemm& p) {
  if (p.layout == GroupLayout::divides_k)
    return p.groups > 0 ? (p.groups - 1) * (p.c_stride / p.c.ld) + p.m : 0;
  return p.layout == GroupLayout::masked ? p.groups * p.m : p.m;
}

// The words of `sizes` as the kernels read them.
inline GroupRows group_rows_of(const GroupedGemm& p) {
  const int groups = static_cast<int>(p.groups);
  const int m = static_cast<int>(p.layout == GroupLayout::divides_k ? p.k : p.m);
  if (p.layout == GroupLayout::masked) return {nullptr, p.sizes.data, p.sizes.words_of_64, groups, m, m};
  const int word = p.sizes.words_of_64 ? 8 : 4;
  return {p.sizes.data, static_cast<const char*>(p.sizes.data) + word, p.sizes.words_of_64, groups, 0, m};
}

// The two maps of an operand. Tile: OperandTile; parts: CTAs that load a part of a shared tile each; extent:
// along m (n); k: of the map.
template <class Tile, int parts>
Status make_grouped_maps(Launcher& launcher, const ConstMatrix& matrix, int extent, int k,
                         GroupedOperandMaps* maps) {
  const MatrixInMemory operand = operand_in_memory<Tile>(matrix, extent, k);
  if (Status s = launcher.make_tensor_map(operand, OperandLoad<Tile>(1).rows(), Tile::panel_columns,
                                          &maps->whole.whole);
      !s)
    return s;
  return launcher.make_tensor_map(operand, OperandLoad<Tile>(parts).rows(), Tile::panel_columns,
                                  &maps->part.whole);
}

// The problem as the kernel sees it: without k it multiplies a k-tile beyond a matrix that is never read.
inline GroupedGemm with_some_k(const GroupedGemm& problem) {
  if (problem.k > 0 && problem.alpha != 0.0F) return problem;
  GroupedGemm p = problem;
  const auto address = reinterpret_cast<std::uintptr_t>(p.sizes.data) / 16 * 16;
  const void* const somewhere = reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
  p.k = 0;
  p.a = {somewhere, 64, p.a.order, p.a.type};
  p.b = {somewhere, 64, p.b.order, p.b.type};
  p.b_stride = 0;
  p.scale_a = p.scale_b = {static_cast<const float*>(somewhere), 4};
  p.scale_b_stride = 0;
  return p;
}

// The maps of the scales of a problem with_some_k(). rows: of A.
template <class Config>
Status make_grouped_scale_maps(Launcher& launcher, const GroupedGemm& p, int rows, ScaledGroupedMaps* map_a,
                               ScaledGroupedMaps* map_b, GroupedArguments* arguments) {
  using Scales = typename Config::Scales;
  const auto blocks_k = static_cast<int>(std::max<std::int64_t>(blocks_of_128(p.k), 1));
  const int pitch = p.groups > 1 ? static_cast<int>(p.scale_b_stride / p.scale_b.ld) : 0;
  const int blocks_n = static_cast<int>(blocks_of_128(p.n)) + (static_cast<int>(p.groups) - 1) * pitch;
  arguments->scale_b_pitch = pitch;
  // Without k none of the scales is read.
  const MatrixInMemory scales_a{p.scale_a.data, 4, blocks_k, p.k == 0 ? 1 : rows, p.scale_a.ld};
  const MatrixInMemory scales_b{p.scale_b.data, 4, p.k == 0 ? 1 : blocks_n, blocks_k, p.scale_b.ld};
  if (Status s = launcher.make_tensor_map(scales_a, 1, Scales::rows_of_box_anywhere, &map_a->scales); !s)
    return s;
  return launcher.make_tensor_map(scales_b, Scales::blocks_b, Scales::box_columns_b, &map_b->scales);
}

// The launch of gemm_grouped<Config, Op> for a problem that gemm_grouped() accepts, with groups, rows and n
// >= 1. Fails where a tensor map cannot be encoded.
template <class Config, class Op>
Status plan_grouped(const GroupedGemm& problem, const Op& op, const DeviceDescription& device,
                    Launcher& launcher, Launch* launch) {
  using Kernel = GemmGrouped<Config>;
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  if (Status s = check_cluster_fits(launch->what, Cluster::ctas, device); !s) return s;
  const GroupedGemm p = with_some_k(problem);
  const int rows = static_cast<int>(rows_of_all_groups(p));  // of C
  const int a_rows = p.layout == GroupLayout::divides_k ? static_cast<int>(p.m) : rows,
            n = static_cast<int>(p.n);
  const int k = static_cast<int>(p.k), some_k = std::max(k, 1);
  const int clusters = std::max(1, device.multiprocessors / Cluster::ctas);
  const int tiles_n = n / Block::n + (n % Block::n != 0);

  GroupedArguments arguments{};
  arguments.rows = group_rows_of(problem);
  arguments.raster = GroupRaster(tiles_n, square_band(clusters, Block::m * Cluster::m, Block::n));
  arguments.k = k == 0 ? KTiles{1, 1} : KTiles{0, k / Block::k + (k % Block::k != 0)};
  arguments.b_pitch = p.groups > 1 ? static_cast<int>(p.b_stride / p.b.ld) : 0;
  if (p.layout == GroupLayout::divides_k) {
    arguments.b_pitch = 0;
    arguments.no_k = k == 0;
    arguments.outputs = {static_cast<int>(p.m), p.groups > 1 ? static_cast<int>(p.c_stride / p.c.ld) : 0};
  }
  arguments.c = {p.c.data, p.c.ld, rows, n, p.c.type};
  arguments.error = p.error;

  typename Kernel::Maps map_a{}, map_b{};
  TensorMap map_c{};
  const int beyond = (static_cast<int>(p.groups) - 1) * arguments.b_pitch;
  if (Status s = make_grouped_maps<TileA, Cluster::ctas>(launcher, p.a, a_rows, some_k, &map_a); !s) return s;
  const bool k_major = TileB::k_major;
  if (Status s = make_grouped_maps<TileB, Cluster::ctas>(launcher, p.b, n + (k_major ? beyond : 0),
                                                         some_k + (k_major ? 0 : beyond), &map_b);
      !s)
    return s;
  if constexpr (Config::promotes) {
    if (Status s = make_grouped_scale_maps<Config>(launcher, p, rows, &map_a, &map_b, &arguments); !s)
      return s;
  }
  if (tma_can_store(arguments.c)) {
    const int halves = static_cast<int>(bytes(p.c.type) / 2);  // 16-bit elements of one of C
    if (Status s = launcher.make_tensor_map({p.c.data, 2, rows, halves * n, halves * p.c.ld}, subtile_rows,
                                            subtile_row_bytes / 2, &map_c);
        !s)
      return s;
  }
  // How many tiles there are, only the device knows (RowGroups::ctas_in_use): at most one row tile a group is
  // not full. Groups that divide k have as many tiles each.
  constexpr int tile_rows = Block::m;
  const std::int64_t row_tiles =
      Config::divides_k ? p.groups * ((p.m + tile_rows - 1) / tile_rows) : p.groups + rows / tile_rows;
  int launched = static_cast<int>(std::min<std::int64_t>(clusters, row_tiles * tiles_n));
  if (Config::divides_k) {
    const auto tiles_m = static_cast<int>((p.m + tile_rows - 1) / tile_rows);
    const std::int64_t tiles = p.groups * GroupTiles<Cluster>::count(arguments.raster, tiles_m);
    if (tiles <= std::numeric_limits<int>::max()) launched = clusters_for(static_cast<int>(tiles), launched);
  }
  launch->function = reinterpret_cast<const void*>(&gemm_grouped<Config, Op>);
  launch->overlaps_previous = true;
  launch->grid.x = static_cast<unsigned>(Cluster::ctas * launched);
  launch->block.x = Kernel::threads;
  launch->shared_bytes = Kernel::shared_bytes;
  launch->arguments.set(map_a, map_b, map_c, arguments, op);
  return {};
}

}  // namespace tenon
