// The launch plan of the kernel for unaligned operands. Host code. Below: kernel_wgmma_unaligned.hpp,
// plan_sm90.hpp.
#pragma once

#include "tenon/gemm/kernel_wgmma_unaligned.hpp"
#include "tenon/gemm/plan_sm90.hpp"

namespace tenon {

// Whether every row (column) of a matrix begins on a multiple of `multiple` bytes.
inline bool begins_on_multiples(const ConstMatrix& matrix, unsigned multiple) noexcept {
  return (reinterpret_cast<std::uintptr_t>(matrix.data) |
          static_cast<std::uint64_t>(matrix.ld) * bytes(matrix.type)) %
             multiple ==
         0;
}

// The launch of gemm_unaligned<Config, Op>, as plan_wgmma() makes that of gemm_wgmma.
template <class Config, class Op>
Status plan_unaligned(const Product& product, const Op& op, const DeviceDescription& device,
                      Launcher& launcher, Launch* launch) {
  using Kernel = GemmUnaligned<Config>;
  using Block = typename Config::Block;
  if (Status s = check_cluster_fits(launch->what, Config::cluster, device); !s) return s;
  const Product seen = Config::swap_ab ? with_swapped_operands(product) : product;
  UnalignedArguments arguments{make_arguments<Config>(seen), 8, 8, 0};
  GemmArguments& g = arguments.gemm;
  g.c.m = static_cast<int>(product.m), g.c.n = static_cast<int>(product.n);
  RowInterleavedMaps map_a, map_b;
  const bool aligned = begins_on_multiples(seen.a, 16);
  if (aligned) arguments.rows_apart = 1;  // all rows have the same offset
  if (begins_on_multiples(seen.a, 128)) {
    arguments.before = Block::k;
    arguments.shares_b = shares_unaligned_b(g.m, g.n, Block::m, Block::n) ? 1 : 0;
  }
  const int box_rows_a = Kernel::box_rows_a(arguments.shares_b != 0);
  if (aligned) {
    if (Status s = launcher.make_tensor_map(operand_in_memory<typename Kernel::TileA>(seen.a, g.m, g.k),
                                            box_rows_a, Block::k, &map_a.view[0]);
        !s) {
      return s;
    }
    std::fill(map_a.view + 1, map_a.view + 8, map_a.view[0]);
  } else if (Status s = make_row_interleaved_maps(launcher, seen.a, g.m, g.k, box_rows_a, Block::k, &map_a);
             !s) {
    return s;
  }
  if (Status s = make_row_interleaved_maps(launcher, seen.b, g.n, g.k, Kernel::box_rows_b, Block::k, &map_b);
      !s)
    return s;
  const int rows = Block::m * (arguments.shares_b ? Config::cluster : 1);
  const int columns = Block::n * (arguments.shares_b ? 1 : Config::cluster);
  const int clusters = std::max(1, device.multiprocessors / Config::cluster);
  const int band = square_band(clusters, rows, columns);
  g.raster = make_raster(g.m, g.n, rows, columns, band);
  // Consecutive tiles along m are views of the same 8 * Block::m rows.
  if (arguments.rows_apart == 8)
    g.raster = Raster(RowInterleavedTiles<1, Block::m>::tiles_of(g.m), g.raster.tiles_n(), band);
  const TailSplit tail = TailSplit::of(g.raster.tiles(), clusters, g.k / Block::k + (g.k % Block::k != 0));
  g.whole_tiles = tail.whole_tiles;
  launch->function = reinterpret_cast<const void*>(&gemm_unaligned<Config, Op>);
  launch->overlaps_previous = true;
  launch->grid.x = static_cast<unsigned>(Config::cluster * tail.busy_clusters);
  launch->block.x = Kernel::threads;
  launch->shared_bytes = Kernel::shared_bytes;
  launch->arguments.set(map_a, map_b, arguments, op);
  return {};
}

}  // namespace tenon
