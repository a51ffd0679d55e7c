// The warpgroup microkernel for fp8 operands whose sums must be better than the tensor core's: 64 x N sums in
// f32, to which each slab of k adds what the tensor core made of it.
//
//   PromotedTile<e4m3, 256> c;
//   c.clear();
//   for (...) c.add(tile_a, tile_b, row, column);    // over the tiles' depth; they may be overwritten after
//   c.for_each_part([&](const auto& part, int row) { ... });
//
// The tensor core aligns fp8 products to the largest term and keeps 13 bits (reference: two-level accumulation
// of DeepSeek-V3, arXiv:2412.19437, section 3.3.2): over a long k small terms are lost. Here it sums 128 of k
// at most, from zero, and the rest is f32 additions. They need the registers of all sums beside those that the
// tensor core writes, so it multiplies 128 columns at a time. The tensor core idles while these are added: two
// warpgroups take turns by themselves. sm_90a. Below: wgmma_accumulator.hpp.
#pragma once

#include "tenon/warp/wgmma_accumulator.hpp"

namespace tenon {

// T, TB: element types of A and B: e4m3 or e5m2. N: up to 128, or a multiple of 128 up to 256.
template <class T, int N, class TB = T>
class PromotedTile {
  static constexpr int width = N < 128 ? N : 128;  // columns that the tensor core computes at a time
  static_assert(N % width == 0 && N <= 256, "PromotedTile: N must be at most 128, or 256");
  static constexpr int most_depth = 128;

 public:
  static constexpr int m = 64, n = N;

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < N / 2; ++i) total_[i] = 0.0F;
  }

  // Adds the product of rows `row` .. + 64 of tile a and columns `column` .. + N of tile b, both multiples
  // of 8.
  template <class TileA, class TileB>
  __device__ __forceinline__ void add(const TileA& a, const TileB& b, int row, int column) {
    static_assert(TileA::depth == TileB::depth && TileA::depth <= most_depth,
                  "PromotedTile: both tiles must have the same depth, at most 128");
    static_assert(std::is_same_v<typename TileA::Type, T> && std::is_same_v<typename TileB::Type, TB>,
                  "PromotedTile: the tiles must hold the element types of this product; are they swapped?");
    static_assert(TileA::extent >= m && TileB::extent >= N,
                  "PromotedTile: the tiles are smaller than the product");
    using OperandA = OperandDescriptor<TileA>;
    const OperandA operand_a(a, row);
#pragma unroll
    for (int first = 0; first < N; first += width) {
      const OperandDescriptor<TileB> operand_b(b, column + first);
      part_.fence();
#pragma unroll
      for (int step = 0; step < OperandA::steps; ++step) {
        part_.template multiply<T, TB>(operand_a.at(step), operand_b.at(step), step > 0);
      }
      part_.commit();
      part_.when_done([&](const auto& values) {
#pragma unroll
        for (int i = 0; i < width / 2; ++i) total_[first / 2 + i] += values.reg[i];
      });
    }
  }

  // f(part, 0): the sums as WarpgroupTile hands them out.
  template <class F>
  __device__ __forceinline__ void for_each_part(F&& f) const {
    f(Part{total_}, 0);
  }

 private:
  struct Part {
    using Value = float;
    static constexpr int rows = 1, columns = N / 8;
    const float (&total)[N / 2];

    __device__ __forceinline__ void pair(int, int j, int half, float (&two)[2]) const {
      two[0] = total[4 * j + 2 * half];
      two[1] = total[4 * j + 2 * half + 1];
    }
  };

  float total_[N / 2];
  WgmmaAccumulator<float, width> part_;
};

}  // namespace tenon
