// What happens to a score q k between the first product and the softmax. An operation is a type; an
// embedder's own has the same members and is copied to the kernel byte by byte:
//
//   struct MyOperation {
//     static constexpr bool changes_scores = true;
//     float factor;                                                // p = 2^(factor * score - ...)
//     __device__ MyOperation of_head(int batch, int head) const;   // what it reads for a head
//     __device__ float operator()(float score, float distance) const;
//   };
//
// distance: from the query's position to the key. With changes_scores == false there is no operator(): the
// softmax multiplies by `factor` itself, in the same instruction that subtracts the maximum. factor: >= 0.
#pragma once

#include "tenon/ptx/arch.hpp"

namespace tenon {

inline constexpr float log2_of_e = 1.4426950408889634F;

// softmax(scale * s).
struct ScaledScore {
  static constexpr bool changes_scores = false;
  float factor;

  static ScaledScore of(float scale) { return {scale * log2_of_e}; }
  __device__ __forceinline__ ScaledScore of_head(int, int) const { return *this; }
};

// softmax(cap * tanh(scale * s / cap)).
struct SoftCappedScore {
  static constexpr bool changes_scores = true;
  float factor, scale_by_cap;

  static SoftCappedScore of(float scale, float cap) { return {cap * log2_of_e, scale / cap}; }
  __device__ __forceinline__ SoftCappedScore of_head(int, int) const { return *this; }
  __device__ __forceinline__ float operator()(float score, float) const {
    return __tanhf(score * scale_by_cap);  // within 2^-11
  }
};

// softmax(scale * s + slope * distance), one slope of each head.
struct AlibiScore {
  static constexpr bool changes_scores = true;
  float factor, scale;
  const float* slopes;
  float slope;

  static AlibiScore of(float scale, const float* slopes) { return {log2_of_e, scale, slopes, 0.0F}; }
  __device__ __forceinline__ AlibiScore of_head(int, int head) const {
    return {factor, scale, slopes, slopes[head]};
  }
  __device__ __forceinline__ float operator()(float score, float distance) const {
    return score * scale + slope * distance;
  }
};

}  // namespace tenon
