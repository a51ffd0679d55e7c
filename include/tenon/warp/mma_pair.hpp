// Two m16n8k16 products of one A fragment, with the two B fragments that one ldmatrix of four matrices loads.
// Below: fragment/f16.hpp.
#pragma once

#include "tenon/fragment/f16.hpp"

namespace tenon {

// left += a * the first fragment of b, right += a * the second. b: as OperandCursor loads it for operand B.
template <class T>
__device__ __forceinline__ void multiply_pair(Accumulator<m16n8k16, float>& left,
                                              Accumulator<m16n8k16, float>& right,
                                              const FragmentA<m16n8k16, T>& a, const std::uint32_t (&b)[4]) {
  FragmentB<m16n8k16, T> first, second;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    first.reg[r] = b[r];
    second.reg[r] = b[2 + r];
  }
  left.mma(a, first);
  right.mma(a, second);
}

}  // namespace tenon
