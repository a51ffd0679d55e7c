// The launch plan of the wgmma kernels for stacked batches. Host code. Below: batch.hpp, plan_sm90.hpp.
#pragma once

#include "tenon/gemm/batch.hpp"
#include "tenon/gemm/plan_sm90.hpp"

namespace tenon {

// The launch of gemm_wgmma<Config, Op>, Config: Stacked, for a batch with count, m, n, k >= 1 that
// is_stacked() and whose A and B TMA can read. Fails where a tensor map cannot be encoded.
template <class Config, class Op>
Status plan_wgmma_stacked(const BatchedProduct& batch, const Op& op, const DeviceDescription& device,
                          Launcher& launcher, Launch* launch) {
  using Kernel = GemmWgmma<Config>;
  using Producer = typename Kernel::Producer;
  using Block = typename Config::Block;
  Product stack = batch.product;
  stack.m *= batch.count;
  stack.a.data = batch.a.first;
  stack.b.data = batch.b.first;
  stack.c.data = const_cast<void*>(batch.c.first);
  GemmArguments arguments = make_arguments<Config>(stack);
  const int tiles_m = static_cast<int>(batch.product.m / Block::m), count = static_cast<int>(batch.count);
  arguments.raster = Raster(count * tiles_m, arguments.n / Block::n, tiles_m);
  arguments.whole_tiles = arguments.raster.tiles();
  const auto a = loaded_operand(Producer::load_a({}), stack.a, Block::m, arguments.m, arguments.k,
                                arguments.raster.tiles_m());
  const auto b = loaded_operand(Producer::load_b({}), stack.b, Block::n, count * arguments.n, arguments.k,
                                count * arguments.raster.tiles_n());
  typename Kernel::MapA map_a;
  typename Kernel::MapB map_b;
  TensorMap map_c{};
  if (Status s = a.make_maps(launcher, load_whole_tiles, &map_a); !s) return s;
  if (Status s = b.make_maps(launcher, load_whole_tiles, &map_b); !s) return s;
  if (Status s = make_output_map<Config>(launcher, arguments.c, &map_c); !s) return s;
  launch->function = reinterpret_cast<const void*>(&gemm_wgmma<Config, Op>);
  launch->overlaps_previous = true;
  launch->grid.x = static_cast<unsigned>(std::min(device.multiprocessors, arguments.raster.tiles()));
  launch->block.x = Kernel::threads;
  launch->shared_bytes = Kernel::shared_bytes;
  launch->arguments.set(map_a, map_b, map_c, arguments, op);
  return {};
}

}  // namespace tenon
