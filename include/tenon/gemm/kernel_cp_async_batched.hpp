// The pipelined GEMM of sm_80 for a batch: one CTA computes one tile of one problem. Below:
// kernel_cp_async.hpp, batch.hpp.
#pragma once

#include "tenon/gemm/batch.hpp"
#include "tenon/gemm/kernel_cp_async.hpp"

namespace tenon {

// C = op(A * B) of each problem, k >= 1. Launch it as plan_batched.hpp says: blockIdx.x is the tile, y and z
// count the problems. Otherwise as gemm_cp_async.
template <class Config, Alignment alignment, class Op>
__global__ void __launch_bounds__(GemmCpAsync<Config, alignment>::threads,
                                  Config::Block::m* Config::Block::n > 128 * 128 ? 1 : 2)
    gemm_cp_async_batched(const __grid_constant__ BatchedArguments batch, const __grid_constant__ Op op) {
  extern __shared__ __align__(1024) std::uint8_t shared[];
  const auto problem = blockIdx.z * gridDim.y + blockIdx.y;
  if (problem >= static_cast<unsigned>(batch.count)) return;
  const TilePosition tile = batch.gemm.raster.at(static_cast<int>(blockIdx.x));
  const GemmArguments arguments = batch.problem(static_cast<int>(problem));
  using Gemm = GemmCpAsync<Config, alignment>;
  Gemm::run(arguments, tile, shared, Gemm::template StoreOf<Op>::make(arguments.c, op, shared));
}

}  // namespace tenon
