// The same additions in the same order as naive_f32, so the results are equal bit for bit. But a CTA loads
// each element of A and B once instead of once for each thread: 32 times less traffic.
#include "reference/launch.cuh"
#include "reference/launch.hpp"
#include "reference/matrix.cuh"

namespace tenon::reference {
namespace {

// CTA tile in m, n and k: one thread for each element of C, one warp for each row of the tile.
constexpr int tile = 32;
constexpr int threads = tile * tile;

// Without the padding column, the transposing store below would put a whole warp on one bank.
using Tile = float[tile][tile + 1];

// shared(i, j) = x(row + i, column + j), zero outside rows x columns. The lanes of a warp run along whichever
// direction is contiguous in memory.
template <class T>
__device__ void load(Tile& shared, const Operand<T>& x, std::int64_t row, std::int64_t column,
                     std::int64_t rows, std::int64_t columns) {
  const bool along_columns = x.column_step == 1;
  const unsigned i = along_columns ? threadIdx.y : threadIdx.x;
  const unsigned j = along_columns ? threadIdx.x : threadIdx.y;
  const bool inside = row + i < rows && column + j < columns;
  shared[i][j] = inside ? x(row + i, column + j) : 0.0F;
}

template <class T>
__global__ void __launch_bounds__(threads)
    tiled_f32_kernel(std::int64_t m, std::int64_t n, std::int64_t k, Operand<T> a, Operand<T> b, Result c) {
  __shared__ Tile tile_a;
  __shared__ Tile tile_b;
  const std::int64_t tiles_across = ceil_div(n, tile);
  const std::int64_t row = blockIdx.x / tiles_across * tile;
  const std::int64_t column = blockIdx.x % tiles_across * tile;

  float sum = 0.0F;
  for (std::int64_t p = 0; p < k; p += tile) {
    load(tile_a, a, row, p, m, k);
    load(tile_b, b, p, column, k, n);
    __syncthreads();
    // Beyond k both tiles hold zeros, which do not change the accumulator.
    for (int q = 0; q < tile; ++q) sum = fmaf(tile_a[threadIdx.y][q], tile_b[q][threadIdx.x], sum);
    __syncthreads();
  }
  if (row + threadIdx.y < m && column + threadIdx.x < n)
    c.store(row + threadIdx.y, column + threadIdx.x, sum);
}

template <class T>
Status run(const Gemm& p, CUstream_st* stream) {
  return launch(tiled_f32_kernel<T>, ceil_div(p.m, tile) * ceil_div(p.n, tile), dim3(tile, tile), stream, p.m,
                p.n, p.k, Operand<T>(p.a), Operand<T>(p.b), Result(p));
}

}  // namespace

Status launch_tiled_f32(const Gemm& problem, CUstream_st* stream) noexcept {
  switch (problem.a.type) {
    case Type::f16:
      return run<__half>(problem, stream);
    case Type::bf16:
      return run<__nv_bfloat16>(problem, stream);
    default:
      return run<float>(problem, stream);
  }
}

}  // namespace tenon::reference
