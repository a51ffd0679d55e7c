// WMMA fed from shared memory: a CTA of four warps loads 64 x 64 tiles of A and of B, and each warp reads
// every fragment twice, for 2 x 2 mma. Loads and mma do not overlap: they alternate.
#include "reference/launch.cuh"
#include "reference/launch.hpp"
#include "reference/wmma.cuh"

namespace tenon::reference {
namespace {

// CTA tile in m, n and k: one number, so that A and B in either order fill the same lines of shared memory.
constexpr int tile = 64;
constexpr int warp_tile = 2 * fragment_size;
constexpr int warps_across = tile / warp_tile;
constexpr int warps = warps_across * warps_across;
constexpr int threads = warps * warp_size;

template <class T, class Fragment>
__device__ void load_fragment(Fragment& fragment, const SharedTile<tile>& shared, Place at) {
  const std::uint16_t* source = shared.values + at.line * shared.ld + at.offset;
  wmma::load_matrix_sync(fragment, reinterpret_cast<const T*>(source), shared.ld);
}

template <class T, Order order_a, Order order_b>
__global__ void __launch_bounds__(threads)
    wmma_shared_kernel(std::int64_t m, std::int64_t n, std::int64_t k, Lines a, Lines b, Result c) {
  __shared__ SharedTile<tile> tile_a;
  __shared__ SharedTile<tile> tile_b;
  __shared__ Patch patches[warps];
  const int warp = threadIdx.x / warp_size;
  const int warp_row = warp / warps_across * warp_tile;
  const int warp_column = warp % warps_across * warp_tile;
  const std::int64_t tiles_across = ceil_div(n, tile);
  const std::int64_t row = blockIdx.x / tiles_across * tile;
  const std::int64_t column = blockIdx.x % tiles_across * tile;

  Accumulator accumulators[2][2];
  for (auto& row_of_tiles : accumulators) {
    for (Accumulator& each : row_of_tiles) wmma::fill_fragment(each, 0.0F);
  }
  for (std::int64_t p = 0; p < k; p += tile) {
    load_tile<tile, threads>(tile_a, a, place<order_a>(row, p), threadIdx.x);
    load_tile<tile, threads>(tile_b, b, place<order_b>(p, column), threadIdx.x);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < tile; q += fragment_size) {
      FragmentA<T, order_a> fragments_a[2];
      FragmentB<T, order_b> fragments_b[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        load_fragment<T>(fragments_a[i], tile_a, place<order_a>(warp_row + i * fragment_size, q));
        load_fragment<T>(fragments_b[i], tile_b, place<order_b>(q, warp_column + i * fragment_size));
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j)
          wmma::mma_sync(accumulators[i][j], fragments_a[i], fragments_b[j], accumulators[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      store_accumulator(accumulators[i][j], patches[warp], c, row + warp_row + i * fragment_size,
                        column + warp_column + j * fragment_size, m, n);
    }
  }
}

}  // namespace

Status launch_wmma_shared(const Gemm& p, CUstream_st* stream) noexcept {
  return with_instance(p, [&](auto instance) {
    using I = decltype(instance);
    return launch(wmma_shared_kernel<typename I::T, I::order_a, I::order_b>,
                  ceil_div(p.m, tile) * ceil_div(p.n, tile), dim3(threads), stream, p.m, p.n, p.k,
                  Lines(p.a, p.m, p.k), Lines(p.b, p.k, p.n), Result(p));
  });
}

}  // namespace tenon::reference
