// A ring filled by TMA: one thread loads ahead, four warps add, and the CTA never synchronises as a whole.
// out = the sum of `rows` rows of 128 floats, from right to left.
#include "tenon/pipeline/tma_ring.hpp"
using namespace cuda::ptx;

__global__ void add_rows(const float* in, float* out, int rows) {
  __shared__ __align__(128) float memory[4][128];
  __shared__ std::uint64_t barriers[8];
  const tenon::TmaRing<4> ring(barriers);
  const int t = threadIdx.x;
  if (t == 0) ring.initialize(4);  // four warps release a stage
  __syncthreads();
  float sum = 0.0F;
  for (tenon::Stage<4> stage; rows > 0; --rows, in += 128, stage = stage.next()) {
    if (t == 128) {
      ring.wait_empty(stage);
      ring.expect(stage, 512);
      cp_async_bulk(space_cluster, space_global, memory[stage.index], in, 512, ring.full_barrier(stage));
    } else {
      ring.wait_full(stage);
      sum += memory[stage.index][127 - t];
      __syncwarp();
      if (t % 32 == 0) ring.release(stage);
    }
  }
  if (t < 128) out[t] = sum;
}
void launch(const float* in, float* out, int rows) {
  add_rows<<<1, 129>>>(in, out, rows);
}
