// Accumulators as the 8-bit A operand of another product, in the order of fragment/interleaved_order.hpp.
// sm_90a. Below: fragment/registers.hpp.
#pragma once

#include "tenon/fragment/interleaved_order.hpp"
#include "tenon/fragment/registers.hpp"

namespace tenon {

// Columns 32 * step to 32 * step + 31 of accumulators, rounded to a T of 8 bits, as the A operand of another
// product: k is then in the order of interleaved_column(), and nothing crosses threads.
template <class T, int NextN, int N>
__device__ __forceinline__ FragmentA<WgmmaShape<NextN, 32>, T> as_interleaved_a(
    const Registers<float, LayoutC<WgmmaShape<N, 16>, float>>& accumulators, int step) {
  using A = FragmentA<WgmmaShape<NextN, 32>, T>;
  using C = LayoutC<WgmmaShape<N, 16>, float>;
  static_assert(Element<T>::bits == 8, "as_interleaved_a: the operand must have 8 bits");
  static_assert(N % 32 == 0, "as_interleaved_a: the accumulators must have a multiple of 32 columns");
  A a;
#pragma unroll
  for (int r = 0; r < A::registers; ++r) {
    float values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // Of lane 0; in all lanes it is the same register.
      const Coord at = A::coord(0, 4 * r + i);
      values[i] = accumulators.reg[C::owner(at.row, interleaved_column(at.col)).element + 16 * step];
    }
    a.reg[r] = Packing<T>::pack(values);
  }
  return a;
}

}  // namespace tenon
