// The launch plan of the sm_80 kernel: from a product to grid and arguments. Host code. Below:
// kernel_cp_async.hpp, plan.hpp.
#pragma once

#include "tenon/gemm/kernel_cp_async.hpp"
#include "tenon/gemm/plan.hpp"

namespace tenon {

// The launch of gemm_cp_async<Config, alignment, Op>, of any Op, for a product with m, n, k >= 1 whose
// operands the kernel takes: all but the function and the operation.
template <class Config, Alignment alignment>
GemmArguments prepare_cp_async(const Product& product, Launch* launch) {
  const GemmArguments arguments = make_arguments<Config>(product);
  launch->grid.x = static_cast<unsigned>(arguments.raster.tiles());
  launch->block.x = GemmCpAsync<Config, alignment>::threads;
  launch->shared_bytes = GemmCpAsync<Config, alignment>::shared_bytes;
  return arguments;
}

template <class Config, Alignment alignment, class Op>
Status plan_cp_async(const Product& product, const Op& op, Launch* launch) {
  launch->function = reinterpret_cast<const void*>(&gemm_cp_async<Config, alignment, Op>);
  launch->arguments.set(prepare_cp_async<Config, alignment>(product, launch), op);
  return {};
}
}  // namespace tenon
