// The block-level GEMM with an epilogue that stores no C: the squared length of every row of a * b^T.
#include <cuda_fp16.h>
#include "example.hpp"
#include "tenon/gemm/kernel_cp_async.hpp"
using namespace tenon;
using Gemm = GemmConfig<half, float, row_major, column_major, TileShape<64, 64, 64>, TileShape<32, 32, 0>, 3>;
using Block = GemmCpAsync<Gemm, Alignment::full_16>;

__global__ void __launch_bounds__(Block::threads) squared_rows(GemmArguments p, float* squares) {
  extern __shared__ __align__(1024) char ring[];
  Block::run(p, p.raster.at(blockIdx.x), ring, [=, m = p.m](auto& tile, int row, int) {
    tile.for_each([=](float v, int i, int) {
      if (row + i < m) atomicAdd(squares + row + i, v * v);
    });
  });
}

int main() {
  constexpr int m = 100, n = 70, k = 72;
  half *a = integers<half>(m * k), *b = integers<half>(n * k);
  float* squares = integers<float>(m);
  cudaMemset(squares, 0, sizeof(float) * m);
  const GemmArguments p{m, n, k, a, k, b, k, {}, make_raster(m, n, 64, 64, 8)};
  squared_rows<<<p.raster.tiles(), Block::threads, Block::shared_bytes>>>(p, squares);  // of 48 KB: no opt-in
  return check(m, [=](int i) {
    float sum = 0.0F;
    for (int j = 0; j < n; ++j) sum += dot(a, b, i, j, k) * dot(a, b, i, j, k);
    return sum == squares[i];
  });
}
