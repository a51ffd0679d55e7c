// The launch plan of the kernel of mma.sync with TMA. Host code. Below: kernel_tma.hpp, plan.hpp.
#pragma once

#include "tenon/gemm/kernel_tma.hpp"
#include "tenon/gemm/plan.hpp"

namespace tenon {

// The launch of gemm_tma<Config, Op> for a product with m, n, k >= 1 whose operands TMA can read. Fails where
// a tensor map cannot be encoded.
template <class Config, class Op>
Status plan_tma(const Product& product, const Op& op, const DeviceDescription& device, Launcher& launcher,
                Launch* launch) {
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  const GemmArguments arguments = make_arguments<Config>(product);
  TensorMap map_a, map_b;
  if (Status s = launcher.make_tensor_map(operand_in_memory<TileA>(product.a, arguments.m, arguments.k),
                                          TileA::rows, TileA::panel_columns, &map_a);
      !s) {
    return s;
  }
  if (Status s = launcher.make_tensor_map(operand_in_memory<TileB>(product.b, arguments.n, arguments.k),
                                          TileB::rows, TileB::panel_columns, &map_b);
      !s) {
    return s;
  }
  launch->function = reinterpret_cast<const void*>(&gemm_tma<Config, Op>);
  launch->grid.x = static_cast<unsigned>(std::min(device.multiprocessors, arguments.raster.tiles()));
  launch->block.x = GemmTma<Config>::threads;
  launch->shared_bytes = GemmTma<Config>::shared_bytes;
  launch->arguments.set(map_a, map_b, arguments, op);
  return {};
}

}  // namespace tenon
