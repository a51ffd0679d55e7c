// WarpTile::multiply without a GEMM: warps multiply two tiles in shared memory; compared with the product in
// double on the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <random>

#include "fragment/managed.hpp"
#include "host/error_bound.hpp"
#include "support/gpu.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/warp/warp_tile.hpp"

namespace tenon {
namespace {

// A CTA tile of ExtentA x ExtentB, M x N for each warp. a: ExtentA x Depth, b: ExtentB x Depth, both with k
// contiguous, whatever the order in shared memory. c = `times` a * b^T, then every element has its position
// added to it:
// + row / 4 - col / 8.
template <class T, class Acc, class TileA, class TileB, int M, int N>
__global__ void multiply(const T* a, const T* b, float* c, int times) {
  __shared__ __align__(1024) unsigned char memory[TileA::bytes + TileB::bytes];
  constexpr int depth = TileA::depth;
  for (int i = static_cast<int>(threadIdx.x); i < TileA::extent * depth; i += static_cast<int>(blockDim.x)) {
    const int e = i / depth, k = i % depth;
    *reinterpret_cast<T*>(memory + (TileA::k_major ? TileA::offset(e, k) : TileA::offset(k, e))) = a[i];
  }
  for (int i = static_cast<int>(threadIdx.x); i < TileB::extent * depth; i += static_cast<int>(blockDim.x)) {
    const int e = i / depth, k = i % depth;
    *reinterpret_cast<T*>(memory + TileA::bytes +
                          (TileB::k_major ? TileB::offset(e, k) : TileB::offset(k, e))) = b[i];
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp % (TileA::extent / M) * M, column = warp / (TileA::extent / M) * N;
  const TileA tile_a{ptx::shared_address(memory)};
  const TileB tile_b{ptx::shared_address(memory + TileA::bytes)};
  WarpTile<T, Acc, M, N> sum;
  sum.clear();
  for (int i = 0; i < times; ++i) sum.multiply(tile_a, tile_b, row, column);
  sum.for_each([&](float& v, int i, int j) {
    c[(row + i) * TileB::extent + column + j] = v;
    v = static_cast<float>(i) / 4 -
        static_cast<float>(j) / 8;  // values written into the tile must stay there
  });
  bool kept = true;
  sum.for_each([&](float& v, int i, int j) {
    kept = kept && v == static_cast<float>(i) / 4 - static_cast<float>(j) / 8;
  });
  if (!kept) c[row * TileB::extent + column] = NAN;
}

template <class T>
constexpr Type type_of() {
  return std::is_same_v<T, float> ? Type::f32 : std::is_same_v<T, __half> ? Type::f16 : Type::bf16;
}

template <class T, class Acc, bool KMajorA, bool KMajorB, int ExtentA, int ExtentB, int Depth, int M, int N>
void expect_product(int times) {
  using TileA = OperandTile<T, ExtentA, Depth, KMajorA>;
  using TileB = OperandTile<T, ExtentB, Depth, KMajorB>;
  SCOPED_TRACE(::testing::Message() << name(type_of<T>()) << ", accumulators in " << name(type_of<Acc>())
                                    << ", " << M << " x " << N << " of " << ExtentA << " x " << ExtentB
                                    << " x " << Depth << ", k-major " << KMajorA << KMajorB << ", " << times
                                    << " times");
  test::Managed<T> a(ExtentA * Depth, T(0.0F)), b(ExtentB * Depth, T(0.0F));
  std::mt19937 random(static_cast<unsigned>(ExtentA + Depth));
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(normal(random));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = T(normal(random));
  test::Managed<float> c(ExtentA * ExtentB, NAN);
  constexpr int warps = ExtentA / M * (ExtentB / N);
  multiply<T, Acc, TileA, TileB, M, N><<<1, 32 * warps>>>(a.data(), b.data(), c.data(), times);
  ASSERT_TRUE(test::finished());
  for (int i = 0; i < ExtentA; ++i) {
    for (int j = 0; j < ExtentB; ++j) {
      DotProduct dot;
      for (int k = 0; k < times * Depth; ++k) {
        dot.add(static_cast<double>(static_cast<float>(a[static_cast<std::size_t>(i * Depth + k % Depth)])) *
                static_cast<double>(static_cast<float>(b[static_cast<std::size_t>(j * Depth + k % Depth)])));
      }
      const double bound = accumulation_bound(dot, times * Depth, type_of<Acc>());
      const double found = static_cast<double>(c[static_cast<std::size_t>(i * ExtentB + j)]);
      ASSERT_LE(error_of(found, dot.sum, bound, Type::f32), bound)
          << "(" << i << ", " << j << ") is " << found;
    }
  }
}

template <class T, class Acc, int ExtentA, int ExtentB, int Depth, int M, int N>
void expect_products() {
  for (const int times : {1, 3}) {
    expect_product<T, Acc, true, true, ExtentA, ExtentB, Depth, M, N>(times);
    expect_product<T, Acc, true, false, ExtentA, ExtentB, Depth, M, N>(times);
    expect_product<T, Acc, false, true, ExtentA, ExtentB, Depth, M, N>(times);
    expect_product<T, Acc, false, false, ExtentA, ExtentB, Depth, M, N>(times);
  }
}

class WarpTileGpu : public test::GpuTest {};

TEST_F(WarpTileGpu, F16SumsInF32) {
  expect_products<__half, float, 64, 64, 64, 64, 64>();
  expect_products<__half, float, 64, 128, 32, 32, 64>();
  expect_products<__half, float, 64, 64, 32, 16, 16>();
}
TEST_F(WarpTileGpu, Bf16SumsInF32) {
  expect_products<__nv_bfloat16, float, 128, 64, 64, 64, 32>();
  expect_products<__nv_bfloat16, float, 64, 64, 16, 32, 32>();
}
TEST_F(WarpTileGpu, F16SumsInF16) {
  expect_products<__half, __half, 64, 128, 64, 64, 64>();
  expect_products<__half, __half, 64, 64, 32, 32, 32>();
}
TEST_F(WarpTileGpu, PartsThatAreNoPowerOfTwoWhereKIsContiguous) {
  expect_product<__half, float, true, true, 96, 96, 32, 48, 96>(1);
  expect_product<__half, float, true, true, 96, 192, 64, 96, 64>(2);
}

}  // namespace
}  // namespace tenon
