// The warp microkernel: one warp multiplies two tiles in shared memory, a 32 x 64 product of depth 64.
#include <cuda_fp16.h>

#include "example.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/warp/warp_tile.hpp"
using namespace tenon;
using TileA = OperandTile<half, 32, 64, true>;  // k contiguous
using TileB = OperandTile<half, 64, 64, true>;

// c = a * b^T: a is 32 x 64, b is 64 x 64, c is 32 x 64, all row-major.
__global__ void product(const half* a, const half* b, float* c) {
  __shared__ __align__(1024) unsigned char shared_a[TileA::bytes], shared_b[TileB::bytes];
  for (int i = threadIdx.x; i < 32 * 64; i += 32) *(half*)&shared_a[TileA::offset(i / 64, i % 64)] = a[i];
  for (int i = threadIdx.x; i < 64 * 64; i += 32) *(half*)&shared_b[TileB::offset(i / 64, i % 64)] = b[i];
  __syncwarp();
  WarpTile<half, float, 32, 64> sum;
  sum.clear();
  sum.multiply(TileA{ptx::shared_address(shared_a)}, TileB{ptx::shared_address(shared_b)}, 0, 0);
  sum.for_each([=](float& v, int row, int column) { c[64 * row + column] = v; });
}

int main() {
  const half* a = integers<half>(32 * 64);
  const half* b = integers<half>(64 * 64);
  float* c = integers<float>(32 * 64);
  product<<<1, 32>>>(a, b, c);
  return check(32 * 64, [=](int i) { return c[i] == dot(a, b, i / 64, i % 64, 64); });
}
