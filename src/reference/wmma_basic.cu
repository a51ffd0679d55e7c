// The least code that uses a tensor core: one warp for each 16 x 16 tile of C, fragments loaded from global
// memory. Nothing is reused, so every mma waits for two loads.
#include "reference/launch.cuh"
#include "reference/launch.hpp"
#include "reference/wmma.cuh"

namespace tenon::reference {
namespace {

constexpr int warps = 4;  // a CTA computes four neighbouring tiles; its warps share nothing
constexpr int threads = warps * warp_size;

// wmma itself loads a complete, aligned tile; any other passes through shared memory, where zeros complete
// it.
template <class T, class Fragment>
__device__ void load_fragment(Fragment& fragment, const Lines& x, Place at,
                              SharedTile<fragment_size>& staging) {
  if (is_whole<fragment_size>(x, at)) {
    const std::uint16_t* source = x.data + at.line * x.ld + at.offset;
    wmma::load_matrix_sync(fragment, reinterpret_cast<const T*>(source), static_cast<unsigned>(x.ld));
    return;
  }
  load_tile<fragment_size, warp_size>(staging, x, at, threadIdx.x % warp_size);
  __syncwarp();
  wmma::load_matrix_sync(fragment, reinterpret_cast<const T*>(staging.values), staging.ld);
  __syncwarp();  // the staging may be written again
}

template <class T, Order order_a, Order order_b>
__global__ void __launch_bounds__(threads)
    wmma_basic_kernel(std::int64_t m, std::int64_t n, std::int64_t k, Lines a, Lines b, Result c) {
  __shared__ SharedTile<fragment_size> staging[warps];
  __shared__ Patch patches[warps];
  const int warp = threadIdx.x / warp_size;
  const std::int64_t tiles_across = ceil_div(n, fragment_size);
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * warps + warp;
  const std::int64_t row = tile / tiles_across * fragment_size;
  const std::int64_t column = tile % tiles_across * fragment_size;
  if (row >= m) return;

  Accumulator sum;
  wmma::fill_fragment(sum, 0.0F);
  for (std::int64_t p = 0; p < k; p += fragment_size) {
    FragmentA<T, order_a> fragment_a;
    FragmentB<T, order_b> fragment_b;
    load_fragment<T>(fragment_a, a, place<order_a>(row, p), staging[warp]);
    load_fragment<T>(fragment_b, b, place<order_b>(p, column), staging[warp]);
    wmma::mma_sync(sum, fragment_a, fragment_b, sum);
  }
  store_accumulator(sum, patches[warp], c, row, column, m, n);
}

}  // namespace

Status launch_wmma_basic(const Gemm& p, CUstream_st* stream) noexcept {
  const std::int64_t tiles = ceil_div(p.m, fragment_size) * ceil_div(p.n, fragment_size);
  return with_instance(p, [&](auto instance) {
    using I = decltype(instance);
    return launch(wmma_basic_kernel<typename I::T, I::order_a, I::order_b>, ceil_div(tiles, warps),
                  dim3(threads), stream, p.m, p.n, p.k, Lines(p.a, p.m, p.k), Lines(p.b, p.k, p.n),
                  Result(p));
  });
}

}  // namespace tenon::reference
