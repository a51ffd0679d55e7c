// The warp microkernel: an M x N accumulator in the registers of one warp, fed from two operand tiles in
// shared memory.
//
//   WarpTile<half, float, 64, 64> c;  c.clear();
//   c.multiply(tile_a, tile_b, row, column);      // c += A[row .., :] * B[:, column ..] over the whole depth
//   c.for_each([&](float& v, int row, int col) { ... });
//
// Loads run ahead of the mma instructions: rows of A through two buffers, one row ahead; a pair of B
// fragments is fetched again as soon as the last row of a k-step has used it. That takes 8 + N / 2 registers
// for operands, so a 64 x 64 tile fits 168 registers and leaves none idle. multiply_k_tile() is the same loop
// for kernels that stream k-tiles through a ring: the next k-tile's first fragments are loaded before the
// current one ends. Below: warp_accumulators.hpp; other types need their header of fragment/.
#pragma once

#include "tenon/warp/warp_accumulators.hpp"

namespace tenon {

// T, TB: the elements of A and of B, one type or both fp8: __half, __nv_bfloat16, tf32, e4m3, e5m2, int8_t.
// AccT: float; __half with T = __half; int32_t with T = int8_t; double with T = double
// (operand_cursor_f64.hpp). M, N: multiples of 16.
template <class T, class AccT, int M, int N, class TB = T>
class WarpTile : public WarpAccumulators<T, AccT, M, N> {
  using Base = WarpAccumulators<T, AccT, M, N>;

 public:
  using Base::c, Base::rows, Base::columns;
  using typename Base::Shape;

  // The steps at the end of a k-tile that multiply_k_tile() begins after wait_next().
  static constexpr int steps_after_wait = 0;

  // c += A[row .. row + M, :] * B[:, column .. column + N]. row is a multiple of M, column of N.
  template <class TileA, class TileB>
  __device__ __forceinline__ void multiply(const TileA& a, const TileB& b, int row, int column) {
    const OperandCursor<TileA, Operand::a, M> walk_a(row);
    const OperandCursor<TileB, Operand::b, N> walk_b(column);
    load_first(walk_a, walk_b, a.base, b.base);
    multiply_k_tile<TileA::depth, false>(
        walk_a, walk_b, a.base, b.base, 0, 0, [](int) {}, [] {});
  }

  // Loads the fragments that multiply_k_tile starts with.
  template <class WalkA, class WalkB>
  __device__ __forceinline__ void load_first(const WalkA& walk_a, const WalkB& walk_b, std::uint32_t a,
                                             std::uint32_t b) {
    walk_a.load(a_[0].reg, a, 0, 0);
#pragma unroll
    for (int pair = 0; pair < columns / 2; ++pair) walk_b.load(b_[pair], b, pair, 0);
  }

  // c += the k-tile at (a, b); if `more`, also loads the first fragments of the k-tile at (next_a, next_b).
  // k_step(s) is called at the start of each step of Shape::k along k, or k_step(s, i) before each row i of
  // fragments of that step, whichever k_step takes; wait_next() once, if more, before the
  // first load from the next k-tile: every load from the current k-tile has been issued by then. `more` is a
  // constant, so that the loop over all k-tiles but the last carries no predicate: the last k-tile is a copy
  // of its own.
  template <int depth, bool more, class WalkA, class WalkB, class KStep, class WaitNext>
  __device__ __forceinline__ void multiply_k_tile(const WalkA& walk_a, const WalkB& walk_b, std::uint32_t a,
                                                  std::uint32_t b, std::uint32_t next_a, std::uint32_t next_b,
                                                  KStep&& k_step, WaitNext&& wait_next) {
    constexpr int steps = depth / Shape::k;
    constexpr bool by_rows = std::is_invocable_v<KStep&, int, int>;
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      if constexpr (!by_rows) k_step(s);
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        const int here = s * rows + i, ahead = here + 1;
        const bool last_row = i + 1 == rows;
        if constexpr (by_rows) k_step(s, i);
        if (ahead < steps * rows) {
          walk_a.load(a_[ahead % 2].reg, a, ahead % rows, ahead / rows);
        } else if constexpr (more) {
          wait_next();
          walk_a.load(a_[ahead % 2].reg, next_a, 0, 0);
        }
#pragma unroll
        for (int jj = 0; jj < columns; ++jj) {
          // Serpentine, so that consecutive instructions share an operand; but the last row goes forward,
          // because it frees the B fragments in the order in which the next k-step wants them.
          const int j = i % 2 == 1 && !last_row ? columns - 1 - jj : jj;
          FragmentB<Shape, TB> b_fragment;
#pragma unroll
          for (int r = 0; r < b_registers; ++r) b_fragment.reg[r] = b_[j / 2][j % 2 * b_registers + r];
          c[i][j].mma(a_[here % 2], b_fragment);
          if (last_row && jj % 2 == 1) {
            if (s + 1 < steps) {
              walk_b.load(b_[jj / 2], b, jj / 2, s + 1);
            } else if constexpr (more) {
              walk_b.load(b_[jj / 2], next_b, jj / 2, 0);
            }
          }
        }
      }
    }
    static_assert(!more || steps * rows % 2 == 0,
                  "WarpTile: an odd number of A rows a k-tile would swap the two A buffers");
  }

  // A register of the last load that multiply_k_tile issued from its current k-tile. Loads return in order: a
  // warp that has this value has read the whole k-tile.
  __device__ __forceinline__ typename RegisterOf<T>::type last_loaded() const {
    return a_[1].reg[0];
  }

 private:
  static constexpr int b_registers = FragmentB<Shape, TB>::registers;
  FragmentA<Shape, T> a_[2];  // this row, the next
  // Pairs of FragmentB, as ldmatrix.x4 delivers them.
  typename RegisterOf<T>::type b_[columns / 2][2 * b_registers];
};

}  // namespace tenon
