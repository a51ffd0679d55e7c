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
template <class Load>
struct LoadedOperand {
  using Tile = typename Load::Tile;
  Load load;
  const ConstMatrix& matrix;
  int rows, extent, k, tiles;

  // The extent beyond which the kernel loads nothing (GemmArguments::residue_m).
  int residue_extent() const {
    const std::int64_t left = extent - std::int64_t{tiles - 1} * rows;
    const bool has_residue = load.bytes_of(static_cast<int>(left)) < load.bytes_of(load_whole_tiles);
    return has_residue ? extent : load_whole_tiles;
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
template <class Load>
LoadedOperand<Load> loaded_operand(const Load& load, const ConstMatrix& matrix, int rows, int extent, int k,
                                   int tiles) {
  return {load, matrix, rows, extent, k, tiles};
}

// The map of C for the store of a kernel; left as it is where TMA cannot store C. columns: of a tile.
template <class Config>
Status make_output_map(Launcher& launcher, const Output& c, TensorMap* map, int columns = Config::Block::n) {
  if (Config::row_interleaved || !tma_can_store(c)) return {};
  const int halves = static_cast<int>(bytes(c.type) / 2);  // 16-bit elements of one of C
  const int box_rows = Config::swap_ab ? transposed_box_rows_of(columns) : subtile_rows;
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

// The most CTAs, a power of two up to 16, that can load an operand together. Load: OperandLoad.
template <class Load>
constexpr int most_parts() {
  int parts = 1;
  while (parts < 16 && Load::can_share(2 * parts)) parts *= 2;
  return parts;
}

// Whether a kernel can run as clusters of that extent: a multicast reaches 16 CTAs, and each CTA loads a
// multiple of 8 rows. A compiled cluster takes no extent.
template <class Config>
Status check_cluster_extent(const ClusterExtent& extent) {
  using Cluster = typename Config::Cluster;
  using Producer = typename GemmWgmma<Config>::Producer;
  if constexpr (Cluster::is_compiled) {
    return {};
  } else {
    constexpr StatusCode invalid = StatusCode::invalid_argument;
    if (extent.log2_m < 0 || extent.log2_m > 4 || extent.log2_n < 0 || extent.log2_n > 4)
      return Status(invalid,
                    "the extent of a cluster has log2_m = %d and log2_n = %d but each must be 0 to 4",
                    extent.log2_m, extent.log2_n);
    const auto cluster = Cluster::of(extent);
    if (cluster.ctas > 16)
      return Status(invalid, "a cluster of %d x %d x %d has %d CTAs but must have at most 16", cluster.m,
                    cluster.n, cluster.k, cluster.ctas);
    const unsigned along_n = ClusterExtent::of(cluster.m, cluster.n).along_n;
    if (extent.along_n != along_n)
      return Status(invalid,
                    "the extent of a cluster of %d x %d CTAs has along_n = 0x%x but must have 0x%x, as "
                    "ClusterExtent::of() makes it",
                    cluster.m, cluster.n, extent.along_n, along_n);
    constexpr int most_n = most_parts<decltype(Producer::load_a(cluster))>(),
                  most_m = most_parts<decltype(Producer::load_b(cluster))>();
    if (cluster.n > most_n)
      return Status(
          invalid,
          "a cluster has %d CTAs along n but must have at most %d: each loads a part of the %d rows "
          "of A in a tile, of a multiple of 8 rows",
          cluster.n, most_n, Config::Block::m);
    if (cluster.m > most_m)
      return Status(invalid,
                    "a cluster has %d CTAs along m but must have at most %d: each loads a part of the %d "
                    "columns of B in a tile, of a multiple of 8 rows in shared memory",
                    cluster.m, most_m, Config::Block::n);
    return {};
  }
}

// How many clusters a grid has. tiles: of a cluster each; busy: the clusters that have work if one fits on
// each pair of multiprocessors.
//
// A cluster of 2 fits on a pair of multiprocessors. How many larger clusters run at once depends on how the
// device groups its multiprocessors: then there is one cluster for each tile, and the hardware schedules
// them. Where the caller limits the multiprocessors, they are persistent too, as few as need no more waves:
// a cluster that finds no room would begin only when another one has computed all of its tiles. So they use
// seven eighths of the device at most.
inline int launched_clusters(const DeviceDescription& device, int ctas, int tiles, int busy) noexcept {
  if (ctas <= 2) return busy;
  if (!device.is_limited()) return tiles;
  const int reached = std::min(device.multiprocessors, device.all_multiprocessors * 7 / 8);
  const int at_once = std::max(1, reached / ctas), waves = (tiles - 1) / at_once + 1;
  return (tiles - 1) / waves + 1;
}

// The clusters of a grid, and how they divide the tiles (GemmArguments).
struct WorkDivision {
  int clusters, whole_tiles, pieces;
};
template <class Config>
WorkDivision divide_work(const DeviceDescription& device, int ctas, int tiles, int k_tiles,
                         double operand_bytes) {
  const int at_once = std::max(1, device.multiprocessors / ctas);
  if constexpr (Config::streams_k) {
    const StreamK k =
        StreamK::of(tiles, at_once, k_tiles, StreamK::exceeds_l2(operand_bytes, device.l2_bytes));
    return {k.whole_tiles < tiles ? at_once : std::min(tiles, at_once), k.whole_tiles, k.pieces};
  } else {
    const TailSplit tail = TailSplit::of(tiles, at_once, Config::splits_tail ? k_tiles : 0);
    return {launched_clusters(device, ctas, tiles, tail.busy_clusters), tail.whole_tiles, 1};
  }
}

// Clusters of more than two CTAs do not all run at once, which stream-K counts on.
inline Status check_stream_k(int ctas, const void* partial_tiles) {
  if (ctas > 2)
    return Status(StatusCode::invalid_argument,
                  "a stream-K kernel runs in clusters of 1 or 2 CTAs but this one has %d", ctas);
  if (partial_tiles == nullptr || reinterpret_cast<std::uintptr_t>(partial_tiles) % 16 != 0)
    return Status(StatusCode::invalid_argument,
                  "a stream-K kernel needs memory for partial tiles, aligned to 16 bytes, but it is at %p",
                  partial_tiles);
  return {};
}

// The __global__ function of a configuration.
template <class Config, class Op>
const void* wgmma_function() {
  if constexpr (Config::Cluster::is_compiled) {
    return reinterpret_cast<const void*>(&gemm_wgmma<Config, Op>);
  } else {
    return reinterpret_cast<const void*>(&gemm_wgmma_launched_cluster<Config, Op>);
  }
}

// The launch of gemm_wgmma<Config, Op>, of any Op, for a product with m, n, k >= 1 whose operands the kernel
// takes: grid and block; its arguments separately, for plans that add to them. The caller adds the function
// and the shared memory, which depend on Op. Fails where a tensor
// map cannot be encoded, for an extent that check_cluster_extent() refuses, and where a cluster has more
// CTAs than a limited device has multiprocessors. extent: of a LaunchedCluster. partial_tiles: for
// StreamedK, device memory of StreamKMemory<Config>::bytes_of_cta for each multiprocessor, from a multiple
// of 16 bytes on, which no other launch uses meanwhile.
template <class Config>
Status prepare_any_wgmma(const Product& product, const DeviceDescription& device, Launcher& launcher,
                         Launch* launch, WgmmaArguments<Config>* kernel, const ClusterExtent& extent = {},
                         void* partial_tiles = nullptr) {
  using Kernel = GemmWgmma<Config>;
  using Producer = typename Kernel::Producer;
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  if (Status s = check_cluster_extent<Config>(extent); !s) return s;
  if (Status s = check_cluster_fits(launch->what, Cluster::of(extent).ctas, device); !s) return s;
  if (Config::streams_k) {
    if (Status s = check_stream_k(Cluster::of(extent).ctas, partial_tiles); !s) return s;
  }
  const Product seen = Config::swap_ab ? with_swapped_operands(product) : product;
  GemmArguments& arguments = kernel->arguments;
  arguments = make_arguments<Config>(seen);
  arguments.c = output_of(product);
  arguments.cluster = extent;
  arguments.partial_tiles = partial_tiles;
  const auto cluster = Cluster::of(extent);
  const int rows = Block::m * cluster.m;
  // Where CTAs along m share B, each loads an equal part of it, of a multiple of 8 columns. (Where n is
  // contiguous in B, parts are of k, and smaller steps would do.)
  const TileColumns fits{Config::narrowest, Block::n, std::max(8 * cluster.m, column_step<Config>),
                         Config::swap_ab};
  const int k_tiles = arguments.k / Block::k + (arguments.k % Block::k != 0);
  arguments.tile_columns = fitted_columns(
      fits, {arguments.n, cluster.n, (arguments.m - 1) / rows + 1,
             clusters_at_once(cluster.ctas, device.multiprocessors), (k_tiles + cluster.k - 1) / cluster.k});
  const int tile_columns = tenon::tile_columns<Config>(arguments);
  const int columns = tile_columns * cluster.n;
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
  const double operand_bytes =
      (static_cast<double>(arguments.m) + arguments.n) * arguments.k * Config::TileA::element_bytes;
  const WorkDivision division = divide_work<Config>(device, cluster.ctas, tiles, k_tiles, operand_bytes);
  arguments.whole_tiles = division.whole_tiles;
  arguments.pieces = division.pieces;
  const auto a = loaded_operand(Producer::load_a(cluster), seen.a, Block::m, arguments.m, arguments.k,
                                arguments.raster.tiles_m() * cluster.m);
  const auto b = loaded_operand(Producer::load_b(cluster, tile_columns), seen.b, tile_columns, arguments.n,
                                arguments.k, arguments.raster.tiles_n() * cluster.n);
  if (RegisterBudget<Config>::loads_residue) {
    arguments.residue_m = a.residue_extent();
    arguments.residue_n = b.residue_extent();
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
  if (Status s = make_output_map<Config>(launcher, arguments.c, &kernel->map_c, tile_columns); !s) return s;
  const int ctas = cluster.ctas * division.clusters;
  launch->overlaps_previous = overlap_pays(device, ctas, operand_bytes);
  launch->grid.x = static_cast<unsigned>(ctas);
  launch->cluster = static_cast<unsigned>(cluster.ctas);
  launch->block.x = Kernel::threads;
  return {};
}

// The same with the function and the shared memory of an operation.
template <class Config, class Op>
Status prepare_wgmma(const Product& product, const DeviceDescription& device, Launcher& launcher,
                     Launch* launch, WgmmaArguments<Config>* kernel, const ClusterExtent& extent = {},
                     void* partial_tiles = nullptr) {
  if (Status s = prepare_any_wgmma(product, device, launcher, launch, kernel, extent, partial_tiles); !s)
    return s;
  launch->function = wgmma_function<Config, Op>();
  launch->shared_bytes = GemmWgmma<Config>::template shared_bytes_with<Op>;
  return {};
}

template <class Config, class Op>
Status plan_wgmma(const Product& product, const Op& op, const DeviceDescription& device, Launcher& launcher,
                  Launch* launch, const ClusterExtent& extent = {}, void* partial_tiles = nullptr) {
  WgmmaArguments<Config> kernel;
  if (Status s = prepare_wgmma<Config, Op>(product, device, launcher, launch, &kernel, extent, partial_tiles);
      !s)
    return s;
  launch->arguments.set(kernel.map_a, kernel.map_b, kernel.map_c, kernel.arguments, op);
  return {};
}

}  // namespace tenon
