// Accumulators that an epilogue reads as f32, whatever they are: those of s8 products, s32, are converted,
// which rounds them to 24 bits. Below: nothing.
#pragma once

#include "tenon/ptx/standard.hpp"

namespace tenon {

// A part of integers (epilogue_subtile.hpp) as one of floats.
template <class Part>
struct FloatPart {
  using Value = float;
  static constexpr int rows = Part::rows, columns = Part::columns;
  const Part& part;

  __device__ __forceinline__ void pair(int i, int j, int half, float (&two)[2]) const {
    std::int32_t integers[2];
    part.pair(i, j, half, integers);
    two[0] = __int2float_rn(integers[0]);
    two[1] = __int2float_rn(integers[1]);
  }
};

// The part itself if it has floats.
template <class Part>
__device__ __forceinline__ decltype(auto) as_floats(const Part& part) {
  if constexpr (std::is_same_v<typename Part::Value, std::int32_t>) {
    return FloatPart<Part>{part};
  } else {
    return (part);
  }
}

}  // namespace tenon
