// What threads do together: shared memory, barriers, shuffles, votes, atomics, cooperative groups, wmma.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <mma.h>

namespace groups = cooperative_groups;

extern "C" __global__ void __launch_bounds__(128)
    reduce(const float* in, float* out, unsigned* flags, int n) {
  extern __shared__ float dynamic[];
  __shared__ __align__(16) double partial[4][33];
  const auto block = groups::this_thread_block();
  const auto warp = groups::tiled_partition<32>(block);
  float sum = 0;
  for (int i = static_cast<int>(block.thread_rank()); i < n; i += 128) sum += in[i];
  dynamic[threadIdx.x] = sum;
  sum = groups::reduce(warp, sum, groups::plus<float>());
  if (warp.thread_rank() == 0) partial[warp.meta_group_rank()][0] = sum;
  block.sync();
  if (warp.any(sum > dynamic[0])) atomicAdd(out, static_cast<float>(partial[threadIdx.x & 3][0]));
  if (atomicCAS(flags, 0U, 1U) == 0U) atomicMax(flags + 1, __match_any_sync(~0U, threadIdx.x & 3));
  __threadfence();
  flags[2] = __shfl_down_sync(~0U, flags[3], 4);
}

extern "C" __global__ void multiply(const __half* a, const __half* b, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fragment_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fragment_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> accumulators;
  wmma::fill_fragment(accumulators, 0.0F);
  wmma::load_matrix_sync(fragment_a, a, 16);
  wmma::load_matrix_sync(fragment_b, b, 16);
  wmma::mma_sync(accumulators, fragment_a, fragment_b, accumulators);
  wmma::store_matrix_sync(c, accumulators, 16, wmma::mem_row_major);
}
