// The warpgroup microkernel for fp8 operands whose accumulators must be better than the tensor core's: 64 x N
// accumulators in f32, to which each k-tile adds what the tensor core made of it.
//
//   PromotedTile<e4m3, 128> c;
//   c.clear();
//   c.start<0>(tile_a, tile_b, row, column);           // a stage of a ring
//   for (...) {                                        // and two at a time
//     c.start<1>(tile_a, tile_b, row, column);
//     c.add_previous<1>();                             // the stage before is free
//     c.start<0>(tile_a, tile_b, row, column);
//     c.add_previous<0>();
//   }
//   c.add_last<0>();
//   c.for_each_part([&](const auto& part, int row) { ... });
//
// The tensor core aligns fp8 products to the largest term and keeps 13 bits (DeepSeek-V3, arXiv:2412.19437,
// section 3.3.2): over a long k small terms are lost. Here it accumulates 128 of k at most, from zero, and
// the rest is f32 additions: those of one k-tile while the next is multiplied into other registers. Instead
// of an addition, the caller may promote in another way: with a scale of the k-tile
// (gemm/mainloop_wgmma_block_scaled.hpp). sm_90a. Below: wgmma_accumulator.hpp.
#pragma once

#include "tenon/warp/wgmma_accumulator.hpp"

namespace tenon {

// What becomes of accumulator i of a thread: the partial one of a k-tile is added.
struct AddPartial {
  __device__ __forceinline__ float operator()(float total, float partial, int /*i*/) const {
    return total + partial;
  }
};

// T, TB: element types of A and B: e4m3 or e5m2. M x N: 64 x N, N up to 192, or 128 x N, N up to 128, in
// parts of 64 rows. A thread has registers for two sets of 64 x 128 partial accumulators beside the total.
// Larger tiles have one, with parity 0: each start() comes after the add_last() before it, and another
// warpgroup multiplies meanwhile.
template <class T, int N, class TB = T, int M = 64>
class PromotedTile {
  static_assert((M == 64 && N <= 192) || (M == 128 && N <= 128),
                "PromotedTile: the tile must be 64 x 192 or 128 x 128 at most: a thread has no registers for "
                "more");
  static constexpr int most_depth = 128;

 public:
  static constexpr int m = M, n = N;
  static constexpr int parts = M / 64;
  static constexpr int sets = M * N <= 64 * 128 ? 2 : 1;  // of partial accumulators

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < parts * N / 2; ++i) total_[i / (N / 2)][i % (N / 2)] = 0.0F;
  }

  // Starts the product of rows `row` .. + 64 of tile a and columns `column` .. + N of tile b, both multiples
  // of 8. parity: 0 and 1 in turn: registers have no index. columns, also below: the first so many of the N
  // alone; the others stay 0.
  template <int parity, int columns = N, class TileA, class TileB>
  __device__ __forceinline__ void start(const TileA& a, const TileB& b, int row, int column) {
    static_assert(TileA::depth == TileB::depth && TileA::depth <= most_depth,
                  "PromotedTile: both tiles must have the same depth, at most 128");
    static_assert(std::is_same_v<typename TileA::Type, T> && std::is_same_v<typename TileB::Type, TB>,
                  "PromotedTile: the tiles must hold the element types of this product; are they swapped?");
    static_assert(TileA::extent >= 64 && TileB::extent >= N,
                  "PromotedTile: the tiles are smaller than the product");
    using OperandA = OperandDescriptor<TileA>;
    const OperandA operand_a(a, row);
    const OperandDescriptor<TileB> operand_b(b, column);
    auto& part = partial<parity>();
    part.fence();
#pragma unroll
    for (int step = 0; step < OperandA::steps; ++step) {
      part.template multiply_columns<columns>(operand_a, operand_b, step, step > 0);
    }
    part.commit();
  }

  // After start<parity>(): waits for the one started before, and adds it while this one runs. promote(total,
  // partial, i): the new value of accumulator i of the thread. Accumulators 4 j + 2 half and the next one are
  // columns 8 j + 2 (lane % 4) and the next one, in the warp's row lane / 4 or (half) lane / 4 + 8.
  template <int parity, int columns = N, class Promote = AddPartial>
  __device__ __forceinline__ void add_previous(const Promote& promote = {}) {
    add<1, 0, columns>(partial<1 - parity>(), promote);
  }
  // Waits for start<parity>(), which was the last, and adds it, to the 64 rows of part `part`.
  template <int parity, int part = 0, int columns = N, class Promote = AddPartial>
  __device__ __forceinline__ void add_last(const Promote& promote = {}) {
    add<0, part, columns>(partial<parity>(), promote);
  }

  // Waits for the one started last: its operands may be overwritten.
  __device__ __forceinline__ void wait() {
    Accumulator::template wait_for_operands<0>();
  }

  // f(part, row): the accumulators as WarpgroupTile hands them out.
  template <class F>
  __device__ __forceinline__ void for_each_part(F&& f) const {
#pragma unroll
    for (int part = 0; part < parts; ++part) f(Part{total_[part]}, 64 * part);
  }

 private:
  using Accumulator = WgmmaAccumulator<float, N>;

  struct Part {
    using Value = float;
    static constexpr int rows = 1, columns = N / 8;
    const float (&total)[N / 2];

    __device__ __forceinline__ void pair(int, int j, int half, float (&two)[2]) const {
      two[0] = total[4 * j + 2 * half];
      two[1] = total[4 * j + 2 * half + 1];
    }
  };

  template <int parity>
  __device__ __forceinline__ Accumulator& partial() {
    static_assert(parity < sets,
                  "PromotedTile: this tile has one set of partial accumulators, so parity must be 0");
    return partial_[parity];
  }

  // younger: 1 if the other part runs.
  template <int younger, int part, int columns, class Promote>
  __device__ __forceinline__ void add(Accumulator& partial, const Promote& promote) {
    partial.template when_done<younger>([&](const auto& values) {
#pragma unroll
      for (int i = 0; i < columns / 2; ++i) total_[part][i] = promote(total_[part][i], values.reg[i], i);
    });
  }

  float total_[parts][N / 2];
  Accumulator partial_[sets];
};

}  // namespace tenon
