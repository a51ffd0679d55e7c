// The warp microkernel with all fragments of a k-step in two buffers: while one step is multiplied, the
// fragments of the next one are loaded, spread over the step.
//
// Where shared memory is busy (the copies of cp.async and ldmatrix share its 128 bytes a clock), a load takes
// longer than the few mma instructions that WarpTile leaves for it. This form leaves it a whole step, for
// twice the registers of operands: 64 for a tile of 64 x 64. It has WarpTile's interface, but for f64, whose
// fragments are too large. Below: warp_accumulators.hpp; other types than f16 need their header of fragment/.
#pragma once

#include "tenon/warp/warp_accumulators.hpp"

namespace tenon {

// As WarpTile. The k-tiles that it multiplies have an even number of steps.
template <class T, class AccT, int M, int N, class TB = T>
class WarpTileBuffered : public WarpAccumulators<T, AccT, M, N> {
  using Base = WarpAccumulators<T, AccT, M, N>;

 public:
  using Base::c, Base::rows, Base::columns;
  using typename Base::Shape;

  // The steps at the end of a k-tile that multiply_k_tile() begins after wait_next().
  static constexpr int steps_after_wait = 1;

  template <class WalkA, class WalkB>
  __device__ __forceinline__ void load_first(const WalkA& walk_a, const WalkB& walk_b, std::uint32_t a,
                                             std::uint32_t b) {
#pragma unroll
    for (int load = 0; load < loads; ++load) load_part(0, load, walk_a, walk_b, a, b, 0);
  }

  // As WarpTile's; wait_next() is called before the last step.
  template <int depth, bool more, class WalkA, class WalkB, class KStep, class WaitNext>
  __device__ __forceinline__ void multiply_k_tile(const WalkA& walk_a, const WalkB& walk_b, std::uint32_t a,
                                                  std::uint32_t b, std::uint32_t next_a, std::uint32_t next_b,
                                                  KStep&& k_step, WaitNext&& wait_next) {
    constexpr int steps = depth / Shape::k, count = rows * columns;
    constexpr bool by_rows = std::is_invocable_v<KStep&, int, int>;
    static_assert(steps % 2 == 0,
                  "WarpTileBuffered: a k-tile with an odd number of steps would swap the buffers");
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      const bool last = s + 1 == steps;
      if constexpr (more) {
        if (last) wait_next();
      }
      if constexpr (!by_rows) k_step(s);
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        if constexpr (by_rows) k_step(s, i);
#pragma unroll
        for (int jj = 0; jj < columns; ++jj) {
          // The loads take the first three quarters of the step, and their data the last one to arrive.
#pragma unroll
          for (int load = 0; load < loads; ++load) {
            if (load * count * 3 / (4 * loads) != i * columns + jj) continue;
            if (!last) {
              load_part((s + 1) % 2, load, walk_a, walk_b, a, b, s + 1);
            } else if constexpr (more) {
              load_part(0, load, walk_a, walk_b, next_a, next_b, 0);
            }
          }
          const int j = i % 2 == 1 ? columns - 1 - jj : jj;  // serpentine: neighbours share an operand
          FragmentB<Shape, TB> b_fragment;
          b_fragment.reg[0] = b_[s % 2][j / 2][j % 2 * 2];
          b_fragment.reg[1] = b_[s % 2][j / 2][j % 2 * 2 + 1];
          c[i][j].mma(a_[s % 2][i], b_fragment);
        }
      }
    }
  }

 private:
  static constexpr int loads = rows + columns / 2;  // of a step

  // Load number `load` of a step, in the order of their first use: a row of A, all pairs of B, the other
  // rows.
  template <class WalkA, class WalkB>
  __device__ __forceinline__ void load_part(int buffer, int load, const WalkA& walk_a, const WalkB& walk_b,
                                            std::uint32_t a, std::uint32_t b, int step) {
    const int pair = load - 1, row = load <= columns / 2 ? 0 : load - columns / 2;
    if (load >= 1 && load <= columns / 2) {
      walk_b.load(b_[buffer][pair], b, pair, step);
    } else {
      walk_a.load(a_[buffer][row].reg, a, row, step);
    }
  }

  FragmentA<Shape, T> a_[2][rows];
  typename RegisterOf<T>::type b_[2][columns / 2][4];
};

}  // namespace tenon
