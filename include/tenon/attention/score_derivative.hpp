// A score of attention together with its derivative, as the backward kernels need them. Below:
// score_function.hpp.
#pragma once

#include "tenon/attention/score_function.hpp"

namespace tenon {

// GeneralScore's operator(), and its derivative by scale * score.
__device__ __forceinline__ float score_with_derivative(const GeneralScore& s, float score, int position,
                                                       int key, float* derivative) {
  score *= s.scale;
  *derivative = 1;
  if (s.soft_cap > 0) {
    const float t = tanhf(score / s.soft_cap);
    score = s.soft_cap * t;
    *derivative = fmaf(-t, t, 1.0F);
  }
  return fmaf(s.slope, static_cast<float>(key - position), score);
}

}  // namespace tenon
