// The warpgroup microkernel: 128 threads multiply two tiles in shared memory by wgmma, 64 x 128 of depth 64.
#include <cuda_fp16.h>

#include "example.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/warp/warpgroup_tile.hpp"
using namespace tenon;
using TileA = OperandTile<half, 64, 64, true>;  // k contiguous
using TileB = OperandTile<half, 128, 64, true>;

// c = a * b^T: a is 64 x 64, b is 128 x 64, c is 64 x 128, all row-major.
__global__ void product(const half* a, const half* b, float* c) {
  __shared__ __align__(1024) unsigned char shared_a[TileA::bytes], shared_b[TileB::bytes];
  for (int i = threadIdx.x; i < 64 * 64; i += 128) *(half*)&shared_a[TileA::offset(i / 64, i % 64)] = a[i];
  for (int i = threadIdx.x; i < 128 * 64; i += 128) *(half*)&shared_b[TileB::offset(i / 64, i % 64)] = b[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma reads through the other proxy
  __syncthreads();
  WarpgroupTile<half, float, 64, 128> sum;
  sum.clear();
  sum.start(TileA{ptx::shared_address(shared_a)}, TileB{ptx::shared_address(shared_b)}, 0, 0);
  sum.for_each([=](float& v, int row, int column) { c[128 * row + column] = v; });
}

int main() {
  need_sm(90);
  half *a = integers<half>(64 * 64), *b = integers<half>(128 * 64);
  float* c = integers<float>(64 * 128);
  product<<<1, 128>>>(a, b, c);
  return check(64 * 128, [=](int i) { return c[i] == dot(a, b, i / 128, i % 128, 64); });
}
