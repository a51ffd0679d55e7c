// A GEMM tile with TMA and wgmma: one thread loads k-tiles of A and B through a ring, a warpgroup multiplies
// them.
#include <cuda_fp16.h>

#include "example.hpp"
#include "tenon/pipeline/make_tensor_map.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/warp/warpgroup_tile.hpp"
using namespace tenon;
using Tile = OperandTile<half, 64, 64, true>;  // 64 rows of A (columns of B) x 64 of k, k contiguous

// c = a * b^T: a and b are 64 x k, c is 64 x 64, all row-major. Launch with 160 threads.
__global__ void product(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float* c,
                        int k) {
  __shared__ __align__(1024) unsigned char stages[2][2 * Tile::bytes];
  __shared__ std::uint64_t barriers[4];
  const TmaRing<2> ring(barriers);
  if (works_for_warp(0)) ring.initialize(4);  // four warps release a stage
  __syncthreads();
  Stage<2> stage;
  if (threadIdx.x >= 128) {
    if (!works_for_warp(4)) return;
    for (int i = 0; i < k; i += 64, stage = stage.next()) {
      ring.wait_empty(stage);
      ring.expect(stage, 2 * Tile::bytes);
      copy_box(stages[stage.index], a, 0, i, ring.full_barrier(stage));  // beyond k: zeros
      copy_box(stages[stage.index] + Tile::bytes, b, 0, i, ring.full_barrier(stage));
    }
    return;
  }
  WarpgroupTile<half, float, 64, 64> accumulators;
  accumulators.clear();
  for (int i = 0; i < k; i += 64, stage = stage.next()) {
    ring.wait_full(stage);
    const std::uint32_t k_tile = ptx::shared_address(stages[stage.index]);
    accumulators.start(Tile{k_tile}, Tile{k_tile + Tile::bytes}, 0, 0);
    accumulators.wait();  // or wait_previous(), and release the stage before: loads and products overlap more
    if (lane_id() == 0) ring.release(stage);
  }
  accumulators.for_each([=](float& v, int row, int column) { c[64 * row + column] = v; });
}

int main() {
  need_sm(90);
  const int k = 200;
  half *a = integers<half>(64 * k), *b = integers<half>(64 * k);
  float* c = integers<float>(64 * 64);
  TensorMap map_a, map_b;
  const Status made_a = make_tensor_map({a, 2, 64, k, k}, Tile::rows, Tile::panel_columns, &map_a);
  const Status made_b = make_tensor_map({b, 2, 64, k, k}, Tile::rows, Tile::panel_columns, &map_b);
  if (!made_a || !made_b) return std::printf("%s%s\n", made_a.message(), made_b.message()), 1;
  product<<<1, 160>>>(map_a, map_b, c, k);
  return check(64 * 64, [=](int i) { return c[i] == dot(a, b, i / 64, i % 64, k); });
}
