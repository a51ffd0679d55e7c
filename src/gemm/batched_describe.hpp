// From the configuration of a kernel for batches to its row in the list.
#pragma once

#include "gemm/batched_sources.hpp"
#include "gemm/describe.hpp"

namespace tenon {

// All but what the family knows.
template <class Config>
BatchedKernel describe_batched(const char* family, const char* variant) {
  const Kernel common = describe<Config>(family);
  BatchedKernel kernel{};
  kernel.name = common.name + variant + "_batched";
  kernel.type = common.type;
  kernel.accumulate = common.accumulate;
  kernel.a_order = common.a_order;
  kernel.b_order = common.b_order;
  kernel.tile_m = common.tile_m;
  kernel.tile_n = common.tile_n;
  kernel.tile_k = common.tile_k;
  return kernel;
}

}  // namespace tenon
