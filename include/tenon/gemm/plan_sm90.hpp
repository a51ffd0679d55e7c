// Launch plans of the sm_90a kernels: from a product to tensor maps, raster, grid and arguments. Host code;
// the launcher makes the tensor maps, so that the plans serve CUDA and the emulator. Below:
// kernel_wgmma.hpp, plan.hpp, row_interleaved_maps.hpp.
#pragma once

#include "tenon/gemm/kernel_wgmma.hpp"
#include "tenon/gemm/plan.hpp"
#include "tenon/gemm/row_interleaved_maps.hpp"

namespace tenon {

// An operand as a kernel loads it. Load: OperandLoad; rows: of A in a tile, or columns of B. Some of the
// `tiles` tiles may lie wholly beyond `extent`.
template <int rows, class Load>
struct LoadedOperand {
  using Tile = typename Load::Tile;
  Load load;
  const ConstMatrix& matrix;
  int extent, k, tiles;

  // The extent beyond which the kernel loads nothing (GemmArguments::residue_m). The part of a stage that the
  // load of a residue tile does not write must hold numbers: an earlier load has written it, or the CTA
  // cleared it before its first tile. So whole tiles are loaded if some CTA reaches its second tile before it
  // has filled the ring.
  int residue_extent(bool ring_is_written) const {
    const std::int64_t left = extent - std::int64_t{tiles - 1} * rows;
    const bool has_residue = load.bytes_of(static_cast<int>(left)) < load.bytes_of(load_whole_tiles);
    return has_residue && (ring_is_written || tiles == 1) ? extent : load_whole_tiles;
  }
  Status make_maps(Launcher& launcher, int /*residue*/, OperandMap* maps) const {
    return launcher.make_tensor_map(operand_in_memory<Tile>(matrix, extent, k), load.rows(),
                                    Tile::panel_columns, &maps->whole);
  }
  // residue: from residue_extent(), or load_whole_tiles.
  Status make_maps(Launcher& launcher, int residue, OperandMaps* maps) const {
    const MatrixInMemory operand = operand_in_memory<Tile>(matrix, extent, k);
    if (Status s = launcher.make_tensor_map(operand, load.rows(), Tile::panel_columns, &maps->whole); !s)
      return s;
    const int box_rows = load.rows_of((extent - 1) % rows + 1);
    if (residue == load_whole_tiles || box_rows == load.rows()) {
      maps->residue = maps->whole;
      return {};
    }
    return launcher.make_tensor_map(operand, box_rows, Tile::panel_columns, &maps->residue);
  }
};
template <int rows, class Load>
LoadedOperand<rows, Load> loaded_operand(const Load& load, const ConstMatrix& matrix, int extent, int k,
                                         int tiles) {
  return {load, matrix, extent, k, tiles};
}

// The map of C for the store of a kernel; left as it is where TMA cannot store C.
template <class Config>
Status make_output_map(Launcher& launcher, const Output& c, TensorMap* map) {
  if (Config::row_interleaved || !tma_can_store(c)) return {};
  const int halves = static_cast<int>(bytes(c.type) / 2);  // 16-bit elements of one of C
  const int box_rows = Config::swap_ab ? transposed_box_rows : subtile_rows;
  const int width = Config::swap_ab ? transposed_box_width(WgmmaPieces<Config>::storing_warps, 2 * halves)
                                    : subtile_row_bytes;
  return launcher.make_tensor_map({c.data, 2, c.m, halves * c.n, halves * c.ld}, box_rows, width / 2, map);
}

// The map of a matrix of 16-bit elements that the epilogue loads (SubtileLoads), m x n.
inline Status make_epilogue_map(Launcher& launcher, const void* data, std::int64_t ld, int m, int n,
                                TensorMap* map) {
  return launcher.make_tensor_map({data, 2, m, n, ld}, subtile_rows, subtile_row_bytes / 2, map);
}

// What gemm_wgmma<Config, Op> is called with, beside the operation.
template <class Config>
struct WgmmaArguments {
  typename GemmWgmma<Config>::MapA map_a;
  typename GemmWgmma<Config>::MapB map_b;
  TensorMap map_c{};
  GemmArguments arguments;
};

// The __global__ function of a configuration.
template <class Config, class Op>
const void* wgmma_function() {
  if constexpr (Config::Cluster::is_compiled) {
    return reinterpret_cast<const void*>(&gemm_wgmma<Config, Op>);
  } else {
    return reinterpret_cast<const void*>(&gemm_wgmma_launched_cluster<Config, Op>);
  }
}

// The launch of gemm_wgmma<Config, Op> for a product with m, n, k >= 1 whose operands the kernel takes: grid,
// block and shared memory; its arguments separately, for plans that add to them. Fails where a tensor map
// cannot be encoded. extent: of a LaunchedCluster; it must let OperandLoad::can_share()
// hold for A with its CTAs along n and for B with those along m, which kernel_table.py checks.
template <class Config, class Op>
Status prepare_wgmma(const Product& product, const DeviceDescription& device, Launcher& launcher,
                     Launch* launch, WgmmaArguments<Config>* kernel, const ClusterExtent& extent = {}) {
  using Kernel = GemmWgmma<Config>;
  using Producer = typename Kernel::Producer;
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  const Product seen = Config::swap_ab ? with_swapped_operands(product) : product;
  GemmArguments& arguments = kernel->arguments;
  arguments = make_arguments<Config>(seen);
  arguments.c = output_of(product);
  arguments.cluster = extent;
  const auto cluster = Cluster::of(extent);
  const int rows = Block::m * cluster.m, columns = Block::n * cluster.n;
  // A cluster of 2 fits on a pair of multiprocessors. How many larger clusters run at once depends on how the
  // device groups its multiprocessors: then there is one cluster for each tile, and the hardware schedules
  // them.
  const int clusters = std::max(1, device.multiprocessors / cluster.ctas);
  const int band = square_band(clusters, rows, columns);
  if (Config::row_interleaved) {
    const std::int64_t whole_rows = std::int64_t{RowInterleavedTiles<2>::tiles_of(arguments.m)} * rows;
    const int m = static_cast<int>(std::min<std::int64_t>(whole_rows, std::numeric_limits<int>::max()));
    arguments.raster = make_raster(m, arguments.n, rows, columns, band);
  } else {
    arguments.raster = make_raster(arguments.m, arguments.n, rows, columns, band);
  }
  const int tiles = arguments.raster.tiles();
  const int k_tiles = arguments.k / Block::k + (arguments.k % Block::k != 0);
  const TailSplit tail = TailSplit::of(tiles, clusters, Config::splits_tail ? k_tiles : 0);
  const int launched = cluster.ctas > 2 ? tiles : tail.busy_clusters;
  arguments.whole_tiles = tail.whole_tiles;
  const std::int64_t work = std::int64_t{tail.whole_tiles} + (tiles - tail.whole_tiles) * cluster.ctas;
  const int least_k_tiles =  // of a CTA
      k_tiles - (Cluster::k - 1) * ((k_tiles + Cluster::k - 1) / Cluster::k);
  const bool ring_is_written = work <= launched || least_k_tiles >= Config::stages;

  const auto a = loaded_operand<Block::m>(Producer::load_a(cluster), seen.a, arguments.m, arguments.k,
                                          arguments.raster.tiles_m() * cluster.m);
  const auto b = loaded_operand<Block::n>(Producer::load_b(cluster), seen.b, arguments.n, arguments.k,
                                          arguments.raster.tiles_n() * cluster.n);
  if (RegisterBudget<Config>::loads_residue) {
    arguments.residue_m = a.residue_extent(ring_is_written);
    arguments.residue_n = b.residue_extent(ring_is_written);
  }
  if constexpr (Config::row_interleaved) {
    if (Status s = make_row_interleaved_maps(launcher, seen.a, arguments.m, arguments.k,
                                             RowInterleavedTiles<2>::rows, Block::k, &kernel->map_a);
        !s)
      return s;
  } else if (Status s = a.make_maps(launcher, arguments.residue_m, &kernel->map_a); !s) {
    return s;
  }
  if (Status s = b.make_maps(launcher, arguments.residue_n, &kernel->map_b); !s) return s;
  if (Status s = make_output_map<Config>(launcher, arguments.c, &kernel->map_c); !s) return s;
  launch->function = wgmma_function<Config, Op>();
  launch->overlaps_previous = true;
  launch->grid.x = static_cast<unsigned>(cluster.ctas) * static_cast<unsigned>(launched);
  launch->cluster = static_cast<unsigned>(cluster.ctas);
  launch->block.x = Kernel::threads;
  launch->shared_bytes = Kernel::template shared_bytes_with<Op>;
  return {};
}

template <class Config, class Op>
Status plan_wgmma(const Product& product, const Op& op, const DeviceDescription& device, Launcher& launcher,
                  Launch* launch, const ClusterExtent& extent = {}) {
  WgmmaArguments<Config> kernel;
  if (Status s = prepare_wgmma<Config, Op>(product, device, launcher, launch, &kernel, extent); !s) return s;
  launch->arguments.set(kernel.map_a, kernel.map_b, kernel.map_c, kernel.arguments, op);
  return {};
}

}  // namespace tenon
