// The launch of the product of slices.
#include "gemm/slices_product.cuh"

#include <algorithm>

#include "gemm/slices.hpp"
#include "tenon/gemm/plan_sm90.hpp"

namespace tenon {
namespace slices {
namespace {

using Config =
    StackedClusters<WgmmaConfig<WgmmaOperands<std::int8_t, std::int8_t, std::int32_t>, row_major,
                                column_major, TileShape<128, 256, 128>, 2, 4, ClusterShape<2, 1>, 1>>;
using Kernel = GemmWgmma<Config>;
using Block = Config::Block;
using Cluster = Config::Cluster;
static_assert(Block::m * Cluster::m == cluster_rows && Block::n * Cluster::n == cluster_columns,
              "Layout must pad to whole cluster tiles of the kernel");

}  // namespace

Status plan_product(Launcher& launcher, const DeviceDescription& device, const Layout& layout,
                    unsigned char* workspace, Launch* launch) noexcept {
  const auto all = [&](std::int64_t rows) { return static_cast<int>(rows * layout.count); };
  const auto m = static_cast<int>(layout.rows_a), n = static_cast<int>(layout.rows_b),
             k = static_cast<int>(layout.ld);
  const ConstMatrix a{workspace + layout.residues_a, layout.ld, row_major, Type::s8};
  const ConstMatrix b{workspace + layout.residues_b, layout.ld, column_major, Type::s8};
  ReduceByModulus op{workspace + layout.residues_c, layout.rows_b, m, {}};
  for (int i = 0; i < layout.count; ++i) {
    const int p = modulus(i);
    op.modulus[i] = {unsigned_byte_weights(p), reduction_of(p)};
    op.modulus[i].reduction.start_bits += p - static_cast<int>((std::int64_t{1} << 31) % p);
  }

  // The store takes the place of C from its operation: to the kernel C is empty.
  GemmArguments arguments{all(m), n, k, a.data, a.ld, b.data, b.ld, Output{nullptr, 1, 0, 0, Type::s8}, {}};
  const int clusters = std::max(1, device.multiprocessors / Cluster::ctas);
  arguments.raster =
      make_raster(m, n, cluster_rows, cluster_columns, square_band(clusters, cluster_rows, cluster_columns));
  arguments.whole_tiles = layout.count * arguments.raster.tiles();
  using Producer = Kernel::Producer;
  const auto loaded_a = loaded_operand(Producer::load_a({}), a, Block::m, all(m), k, all(m) / Block::m);
  const auto loaded_b = loaded_operand(Producer::load_b({}), b, Block::n, all(n), k, all(n) / Block::n);
  Kernel::MapA map_a;
  Kernel::MapB map_b;
  if (Status s = loaded_a.make_maps(launcher, load_whole_tiles, &map_a); !s) return s;
  if (Status s = loaded_b.make_maps(launcher, load_whole_tiles, &map_b); !s) return s;
  launch->what = "the product of int8 slices";
  launch->ptx = "slices_product";
  launch->function = reinterpret_cast<const void*>(&gemm_wgmma<Config, ReduceByModulus>);
  launch->overlaps_previous = true;
  launch->grid.x =
      static_cast<unsigned>(Cluster::ctas) * static_cast<unsigned>(std::min(clusters, arguments.whole_tiles));
  launch->block.x = Kernel::threads;
  launch->shared_bytes = Kernel::shared_bytes;
  launch->arguments.set(map_a, map_b, TensorMap{}, arguments, op);
  return {};
}

}  // namespace slices
}  // namespace tenon
