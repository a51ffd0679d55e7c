// The accumulators of a warp tile, M x N in fragments. M, N: multiples of 16.
#pragma once

#include "tenon/fragment/f16.hpp"
#include "tenon/warp/operand_cursor.hpp"

namespace tenon {

// T: the elements of A, which choose the mma instruction (MmaOf). AccT: of the accumulators.
template <class T, class AccT, int M, int N>
class WarpAccumulators {
  static_assert(M % 16 == 0 && N % 16 == 0, "WarpTile: M and N must be multiples of 16");

 public:
  static constexpr int m = M, n = N;
  static constexpr int rows = M / 16, columns = N / 8;  // in fragments
  using Shape = MmaOf<T>;
  using Fragment = Accumulator<Shape, AccT>;
  using Value = typename Packing<AccT>::Value;  // float, int32_t or double

  Fragment c[rows][columns];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
      for (int j = 0; j < columns; ++j) c[i][j] = Fragment{};
    }
  }

  // This lane's two adjacent elements of fragment (i, j), in its row g or (half) g + 8, f16 as f32.
  __device__ __forceinline__ void pair(int i, int j, int half, Value (&values)[2]) const {
    if constexpr (std::is_same_v<AccT, __half>) {
      Packing<AccT>::unpack(c[i][j].reg[half], values);
    } else {
      values[0] = c[i][j].reg[2 * half];
      values[1] = c[i][j].reg[2 * half + 1];
    }
  }

  // f(value, row, col) for every element of this lane; row and col count within the tile.
  template <class F>
  __device__ __forceinline__ void for_each(F&& f) {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
      for (int j = 0; j < columns; ++j) {
        c[i][j].for_each([&](auto& v, int row, int col) { f(v, 16 * i + row, 8 * j + col); });
      }
    }
  }
};

}  // namespace tenon
