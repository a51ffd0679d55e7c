// A swizzled tile in shared memory: written by rows, read by ldmatrix, without a bank conflict.
#include <cuda_fp16.h>

#include "example.hpp"
#include "tenon/fragment/f16.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/shared/bank_conflicts.hpp"
#include "tenon/shared/tile.hpp"
using namespace tenon;
using Tile = OperandTile<half, 16, 64, true>;  // 16 rows of 64, k contiguous
constexpr int conflicts = [] {
  LaneAddresses at{};  // ldmatrix.x4 points at 16 rows, two chunks of each
  for (int lane = 0; lane < 32; ++lane) at.at[lane] = Tile::offset(lane % 16, lane / 16 * 8);
  return matrix_bank_conflicts(at, 4);
}();
static_assert(conflicts == 0, "without the swizzle there would be 28");
__global__ void transpose(const half* in, float* out) {
  __shared__ __align__(1024) unsigned char memory[Tile::bytes];
  for (int i = threadIdx.x; i < 1024; i += 32) *(half*)&memory[Tile::offset(i / 64, i % 64)] = in[i];
  __syncwarp();
  FragmentA<m16n8k16, half> a;
  a.load(Tile{ptx::shared_address(memory)}, 0, 48);  // the last 16 of 64 columns
  a.for_each([=](float v, int row, int column) { out[16 * column + row] = v; });
}
int main() {
  half* in = integers<half>(16 * 64);
  float* out = integers<float>(16 * 16);
  transpose<<<1, 32>>>(in, out);
  return check(256, [=](int i) { return out[i] == __half2float(in[i % 16 * 64 + 48 + i / 16]); });
}
