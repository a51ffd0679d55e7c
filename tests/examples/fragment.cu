// One tensor-core instruction: a 16 x 8 product of depth 16 by one warp, straight from global memory.
#include <cuda_fp16.h>

#include "example.hpp"
#include "tenon/fragment/f16.hpp"
using namespace tenon;

// c = a * b^T: a is 16 x 16, b is 8 x 16, c is 16 x 8, all row-major.
__global__ void product(const half* a, const half* b, float* c) {
  FragmentA<m16n8k16, half> fragment_a;
  FragmentB<m16n8k16, half> fragment_b;
  Accumulator<m16n8k16, float> sum{};
  fragment_a.fill([=](int row, int k) { return __half2float(a[16 * row + k]); });
  fragment_b.fill([=](int k, int column) { return __half2float(b[16 * column + k]); });
  sum.mma(fragment_a, fragment_b);
  sum.for_each([=](float& v, int row, int column) { c[8 * row + column] = v; });
}

int main() {
  const half* a = integers<half>(16 * 16);
  const half* b = integers<half>(8 * 16);
  float* c = integers<float>(16 * 8);
  product<<<1, 32>>>(a, b, c);
  return check(16 * 8, [=](int i) { return c[i] == dot(a, b, i / 8, i % 8, 16); });
}
