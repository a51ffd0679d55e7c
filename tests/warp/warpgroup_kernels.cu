// Kernels with WarpgroupTile, WgmmaAccumulator and ShiftedRows, which warpgroup_tile_test.cpp runs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/ptx/shared_address.hpp"
#include "tenon/warp/shifted_rows.hpp"
#include "tenon/warp/warpgroup_tile.hpp"

using namespace tenon;

// Bits of an element as they are stored.
template <class Tile>
struct Bits;
template <>
struct Bits<__half> {
  using type = std::uint16_t;
};
template <>
struct Bits<__nv_bfloat16> {
  using type = std::uint16_t;
};
template <>
struct Bits<tf32> {
  using type = std::uint32_t;
};
template <class T>
struct Bits {
  using type = std::uint8_t;
};

// Copies `extent` rows of k, from column `first` of a matrix with `ld` columns, into a tile. Plain stores,
// since TMA is not part of this test.
template <class Tile>
__device__ void copy_in(unsigned char* memory, const void* from, int first, int ld) {
  using Stored = typename Bits<typename Tile::Type>::type;
  for (int i = static_cast<int>(threadIdx.x); i < Tile::extent * Tile::depth;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / Tile::depth, k = i % Tile::depth;
    *reinterpret_cast<Stored*>(memory + (Tile::k_major ? Tile::offset(row, k) : Tile::offset(k, row))) =
        static_cast<const Stored*>(from)[row * ld + first + k];
  }
}

// c = A * B^T over `k-tiles` k-tiles, through a ring of two: a warpgroup for every M rows. Then every element
// is doubled, and if `again` the last k-tile is added once more. The accumulators are stored in pairs.
template <class TileA, class TileB, class AccT, int M, int N>
__device__ void product(const void* a, const void* b, float* c, int k_tiles, int again) {
  constexpr int stage_bytes = TileA::bytes + TileB::bytes;
  __shared__ alignas(1024) unsigned char ring[2 * stage_bytes];
  const int k = k_tiles * TileA::depth, row = static_cast<int>(threadIdx.x) / 128 * M;
  const auto start = [&](auto& sum, int stage) {
    const std::uint32_t base = ptx::shared_address(ring + stage * stage_bytes);
    sum.start(TileA{base}, TileB{base + TileA::bytes}, row, 0);
  };
  WarpgroupTile<typename TileA::Type, AccT, M, N, typename TileB::Type> sum;
  sum.clear();
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    unsigned char* const stage = ring + k_tile % 2 * stage_bytes;
    copy_in<TileA>(stage, a, k_tile * TileA::depth, k);
    copy_in<TileB>(stage + TileA::bytes, b, k_tile * TileB::depth, k);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    start(sum, k_tile % 2);
    sum.wait_previous();
    __syncthreads();  // every warpgroup has finished with the other stage
  }
  sum.for_each([&](auto& v, int, int) { v = v + v; });
  if (again != 0) start(sum, (k_tiles - 1) % 2);
  const int lane = warpgroup_lane_id(), i = lane / 32 * 16 + lane % 32 / 4, j = lane % 4 * 2;
  sum.for_each_part([&](const auto& part, int first) {
    for (int x = 0; x < part.columns; ++x) {
      for (int half = 0; half < 2; ++half) {
        typename std::remove_reference_t<decltype(part)>::Value two[2];
        part.pair(0, x, half, two);
        for (int y = 0; y < 2; ++y)
          c[(row + first + i + 8 * half) * N + 8 * x + j + y] = static_cast<float>(two[y]);
      }
    }
  });
}

#define PRODUCT(name, threads, TileA, TileB, AccT, M, N)                     \
  extern "C" __global__ void __launch_bounds__(threads)                      \
      name(const void* a, const void* b, float* c, int k_tiles, int again) { \
    product<TileA, TileB, AccT, M, N>(a, b, c, k_tiles, again);              \
  }
template <class T, int extent, int depth>
using KMajor = OperandTile<T, extent, depth, true>;
template <class T, int extent, int depth>
using MnMajor = OperandTile<T, extent, depth, false>;

using KHalf64 = KMajor<__half, 64, 64>;
using KHalf128 = KMajor<__half, 128, 64>;
using KHalf40Deep = KMajor<__half, 40, 128>;  // two panels
using KHalf64Deep = KMajor<__half, 64, 128>;
using MnHalf128 = MnMajor<__half, 128, 32>;
using MnHalf64 = MnMajor<__half, 64, 32>;
using KBf16 = KMajor<__nv_bfloat16, 128, 32>;
using MnBf16 = MnMajor<__nv_bfloat16, 128, 32>;
using KTf32 = KMajor<tf32, 64, 32>;
using KE4m3 = KMajor<e4m3, 64, 128>;
using KE5m2 = KMajor<e5m2, 96, 128>;
using KS8 = KMajor<std::int8_t, 64, 64>;
using KU8 = KMajor<std::uint8_t, 48, 64>;
PRODUCT(f16_m64n64, 128, KHalf64, KHalf64, float, 64, 64)
PRODUCT(f16_m128n128, 128, KHalf128, KHalf128, float, 128, 128)
PRODUCT(f16_two_warpgroups, 256, KHalf128, KHalf64, float, 64, 64)
PRODUCT(f16_two_panels, 128, KHalf64Deep, KHalf40Deep, float, 64, 40)
PRODUCT(f16_sums_in_f16, 128, KHalf64, KHalf64, __half, 64, 64)
PRODUCT(f16_both_mn_major, 128, MnHalf64, MnHalf128, float, 64, 128)
PRODUCT(bf16_a_k_major, 256, KBf16, MnBf16, float, 64, 128)
PRODUCT(bf16_b_k_major, 128, MnBf16, KBf16, float, 128, 128)
PRODUCT(tf32_m64n64, 128, KTf32, KTf32, float, 64, 64)
PRODUCT(e4m3_e5m2_n96, 128, KE4m3, KE5m2, float, 64, 96)
PRODUCT(s8_u8_n48, 128, KS8, KU8, std::int32_t, 64, 48)

// c = f16(A * B^T) * D^T, all 64 x 64: the accumulators of one product as A of the next, in registers.
extern "C" __global__ void __launch_bounds__(128)
    chain(const void* a, const void* b, const void* d, float* c) {
  __shared__ alignas(1024) unsigned char tiles[3 * KHalf64::bytes];
  const void* const from[3] = {a, b, d};
  for (int i = 0; i < 3; ++i) copy_in<KHalf64>(tiles + i * KHalf64::bytes, from[i], 0, 64);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const auto operand = [&](int i) {
    return operand_descriptor(KHalf64{ptx::shared_address(tiles + i * KHalf64::bytes)}, 0);
  };
  const auto of_a = operand(0), of_b = operand(1), of_d = operand(2);
  WgmmaAccumulator<float, 64> first, second;
  first.fence();
  for (int step = 0; step < 4; ++step) first.multiply<__half, __half>(of_a.at(step), of_b.at(step), step > 0);
  first.commit();
  FragmentA<WgmmaShape<64, 16>, __half> p[4];
  first.when_done([&](auto& values) {
    for (int step = 0; step < 4; ++step) p[step] = as_a<__half, 64>(values, step);
  });
  for (int step = 0; step < 4; ++step) second.fence(p[step]);
  for (int step = 0; step < 4; ++step) second.multiply<__half, __half>(p[step], of_d.at(step), step > 0);
  second.commit();
  second.when_done(
      [&](auto& values) { values.for_each([&](float& v, int i, int j) { c[i * 64 + j] = v; }); });
}

// c = A * B^T, 64 x 64, for `k_tiles` k-tiles of 64. Rows 8 i to 8 i + 7 of A lie shift[i] elements too far
// right in shared memory. before: elements of k before the first k-tile: 8, or 64, a k-tile that is not
// multiplied.
extern "C" __global__ void __launch_bounds__(128)
    shifted(const __half* a, const __half* b, const int* shift, float* c, int k_tiles, int before) {
  using Rows = ShiftedRows<__half>;
  constexpr int row_bytes = 128, tile_rows = 64;
  __shared__ alignas(1024) unsigned char memory[2][tile_rows * row_bytes + KHalf64::bytes];
  const int k = k_tiles * Rows::depth, thread = static_cast<int>(threadIdx.x);
  const int row = thread / 32 * 16 + thread % 32 / 4;
  const int offset[2] = {row * row_bytes, (row + 8) * row_bytes};
  const int shift_of_rows[2] = {shift[row / 8], shift[row / 8 + 1]};
  Rows rows(offset, shift_of_rows);
  WgmmaAccumulator<float, 64> accumulators;
  FragmentA<WgmmaShape<64, 16>, __half> fragment[4];
  const int first = before == Rows::depth ? 1 : 0;  // the first k-tile that is multiplied
  for (int k_tile = 0; k_tile * Rows::depth < k + before; ++k_tile) {
    unsigned char* const stage = memory[k_tile % 2];
    for (int i = thread; i < tile_rows * Rows::depth; i += 128) {
      const int staged = i / Rows::depth, x = i % Rows::depth;
      // shift() makes element x of a row in shared memory element x + 8 - shift of the k-tile.
      const int in_b = k_tile * Rows::depth + x - before, in_a = in_b + 8 - shift[staged / 8];
      const std::uint16_t bits_a = in_a < 0 || in_a >= k ? 0 : __half_as_ushort(a[staged * k + in_a]);
      const std::uint16_t bits_b = in_b < 0 || in_b >= k ? 0 : __half_as_ushort(b[staged * k + in_b]);
      *reinterpret_cast<std::uint16_t*>(stage + KHalf64::offset(staged, x)) = bits_a;
      *reinterpret_cast<std::uint16_t*>(stage + tile_rows * row_bytes + KHalf64::offset(staged, x)) = bits_b;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const std::uint32_t base = ptx::shared_address(stage);
    if (k_tile < first) {
      rows.load_before(base);
      continue;  // the next k-tile has the other stage
    }
    rows.load(base);
    accumulators.wait_for_operands<0>();
    rows.shift(fragment);
    accumulators.fence(fragment[0], fragment[1], fragment[2], fragment[3]);
    const auto of_b = operand_descriptor(KHalf64{base + tile_rows * row_bytes}, 0);
    for (int step = 0; step < 4; ++step)
      accumulators.multiply<__half, __half>(fragment[step], of_b.at(step), k_tile > first || step > 0);
    accumulators.commit();
    __syncthreads();  // the next stage may be overwritten only after all have read it
  }
  accumulators.when_done(
      [&](auto& values) { values.for_each([&](float& v, int i, int j) { c[i * 64 + j] = v; }); });
}
