// y = max(x * w^T + bias, 0) in one kernel: the GEMM of tenon, with an epilogue of one's own.
#include <cuda_fp16.h>

#include "tenon/gemm/gemm_cp_async.hpp"
using namespace tenon;
using Tile = TileShape<128, 128, 32>;
using Config = GemmConfig<half, float, row_major, column_major, Tile, TileShape<64, 64, 0>, 4>;
using Block = GemmCpAsync<Config, Alignment::any>;

__global__ void __launch_bounds__(Block::threads) linear_relu(GemmArguments p, const float* bias) {
  extern __shared__ __align__(1024) char ring[];  // a tile may reach beyond y: bias has only p.n values
  const auto relu = [=, n = p.n](float x, int, int j) { return j < n ? fmaxf(x + bias[j], 0.0F) : 0.0F; };
  Block::run(p, p.raster.at(blockIdx.x), ring, StoreC{p.c, Elementwise{relu}});
}

void launch(int m, int n, int k, const half* x, const half* w, const float* bias, half* y) {
  const GemmArguments p{m, n, k, x, k, w, k, {y, n, m, n, Type::f16}, 1, 0, make_raster(m, n, 128, 128, 8)};
  cudaFuncSetAttribute(linear_relu, cudaFuncAttributeMaxDynamicSharedMemorySize, Block::shared_bytes);
  linear_relu<<<p.raster.tiles(), Block::threads, Block::shared_bytes>>>(p, bias);
}
