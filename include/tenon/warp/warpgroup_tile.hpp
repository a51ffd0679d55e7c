// The warpgroup microkernel: M x N accumulators of four warps, fed by wgmma from two operand tiles in shared
// memory.
//
//   WarpgroupTile<half, float, 64, 128> c;
//   c.clear();
//   for (...) {                               // stages of a ring
//     c.start(tile_a, tile_b, row, column);   // c += A[row .., :] * B[:, column ..] over their depth
//     c.wait_previous();                      // the stage before this one is free
//   }
//   c.for_each([&](float& v, int row, int col) { ... });
//
// One group of instructions runs while the next is issued: the tensor cores never wait for the threads. The
// tiles are swizzled as TMA writes them (shared/tile.hpp); what threads wrote there themselves
// needs fence.proxy.async before. All calls are made by all 128 threads of a warpgroup. sm_90a. Below:
// wgmma_accumulator.hpp.
#pragma once

#include "tenon/warp/wgmma_accumulator.hpp"

namespace tenon {

// T: element type of A and B: __half, __nv_bfloat16, tf32, e4m3, e5m2, int8_t, uint8_t; TB: that of B if it
// differs. AccT: float, __half or int32_t. M: a multiple of 64; N: as for wgmma; M * N / 128 registers of
// 32 bits a thread hold the accumulators.
template <class T, class AccT, int M, int N, class TB = T>
class WarpgroupTile {
  static_assert(M % 64 == 0, "WarpgroupTile: M must be a multiple of 64, which is what one wgmma has");

 public:
  static constexpr int m = M, n = N;
  static constexpr int rows = M / 64;  // accumulators

  // What start() starts next overwrites the accumulators. They have no value before.
  __device__ __forceinline__ void clear() { add_ = false; }

  // Starts the product of rows `row` .. + M of tile a and columns `column` .. + N of tile b, and adds it.
  // Both are multiples of 8, and of 64 where the tile is not k-major. columns: the first so many of the N
  // alone; the others have no value then.
  template <int columns = N, class TileA, class TileB>
  __device__ __forceinline__ void start(const TileA& a, const TileB& b, int row, int column) {
    static_assert(TileA::depth == TileB::depth, "WarpgroupTile: both tiles must have the same depth");
    static_assert(std::is_same_v<typename TileA::Type, T> && std::is_same_v<typename TileB::Type, TB>,
                  "WarpgroupTile: the tiles must hold the element types of this product; are they swapped?");
    static_assert(TileA::extent >= M && TileB::extent >= N,
                  "WarpgroupTile: the tiles are smaller than the product");
    using OperandA = OperandDescriptor<TileA>;
    const OperandDescriptor<TileB> operand_b(b, column);
    c_[0].fence();
#pragma unroll
    for (int step = 0; step < OperandA::steps; ++step) {
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        const OperandA operand_a(a, row + 64 * i);
        c_[i].template multiply_columns<columns>(operand_a, operand_b, step, add_ || step > 0);
      }
    }
    c_[0].commit();
    add_ = true;
  }

  // All but the last start() have read their tiles.
  __device__ __forceinline__ void wait_previous() {
    c_[0].template wait_for_operands<1>();
  }
  // Every start() has, and the accumulators are there: what is branched on after it moves no register in
  // flight.
  __device__ __forceinline__ void wait() {
#pragma unroll
    for (int i = 0; i < rows; ++i) c_[i].when_done([](auto&) {});
  }

  // Waits for the accumulators, then f(value, row, col) for every element of this thread; row and col count
  // within the tile. f may change the value.
  template <class F>
  __device__ __forceinline__ void for_each(F&& f) {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      c_[i].when_done([&](auto& values) {
        values.for_each([&](auto& v, int row, int col) { f(v, 64 * i + row, col); });
      });
    }
  }

  // Waits for the accumulators, then f(part, row) for each 64 rows of them from `row` on: for epilogues that
  // look at pairs, part.pair(0, j, half, two), which are float, or int32_t if the accumulators are.
  template <class F>
  __device__ __forceinline__ void for_each_part(F&& f) {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      c_[i].when_done([&](auto& values) { f(Part{values}, 64 * i); });
    }
  }

 private:
  // What a warp holds of 64 rows: one row of 16 x 8 fragments, as in WarpTile.
  struct Part {
    using Value = typename Packing<AccT>::Value;
    static constexpr int rows = 1, columns = N / 8;
    const typename WgmmaAccumulator<AccT, N>::Values& values;

    // This lane's two adjacent elements of fragment (0, j), in its row g or (half) g + 8.
    __device__ __forceinline__ void pair(int, int j, int half, Value (&two)[2]) const {
      if constexpr (std::is_same_v<AccT, __half>) {
        Packing<AccT>::unpack(values.reg[2 * j + half], two);
      } else {
        two[0] = values.reg[4 * j + 2 * half];
        two[1] = values.reg[4 * j + 2 * half + 1];
      }
    }
  };

  WgmmaAccumulator<AccT, N> c_[rows];
  bool add_ = false;
};

}  // namespace tenon
