// The online softmax on the accumulators of a wgmma: each key tile updates the maximum and the sum of a row
// and turns its scores s into p = 2^(factor * s - reference), whose sum of products with V is rescaled when
// the maximum grows. Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
//
// A row of accumulators belongs to the four threads of a quad; a thread has two rows. The maximum of a row is
// taken over the quad for each tile, the sum only at the end: each thread keeps its part. Below:
// fragment/registers.hpp, mask.hpp, ptx/ex2.hpp.
#pragma once

#include "tenon/attention/mask.hpp"
#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/ex2.hpp"

namespace tenon {

// f(element, half, column): the number of each of a thread's accumulators, which of the thread's two rows it
// is in, and its column less the thread's first column.
template <class Values, class F>
__device__ __forceinline__ void for_each_in_rows(const F& f) {
#pragma unroll
  for (int i = 0; i < Values::elements; ++i) {
    constexpr int first_row = Values::coord(0, 0).row;
    f(i, Values::coord(0, i).row == first_row ? 0 : 1, Values::coord(0, i).col);
  }
}

// Scores of keys that a query does not see become -infinity, whatever they were. query, key: of the first
// row and column of the accumulators.
template <class Values, class Mask>
__device__ __forceinline__ void mask_scores(Values& scores, const Mask& mask, int query, int key) {
  const Coord at = Values::coord(Values::this_lane(), 0);
  int begin[2], end[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const KeyRange seen = mask.visible(query + at.row + 8 * half);
    begin[half] = seen.begin - key - at.col;
    end[half] = seen.end - key - at.col;
  }
  for_each_in_rows<Values>([&](int i, int half, int column) {
    if (column >= end[half] || (Mask::left_limit && column < begin[half]))
      scores.reg[i] = -__int_as_float(0x7f800000);
  });
}

// Replaces each score by operation(score, distance).
template <class Values, class Operation>
__device__ __forceinline__ void change_scores(Values& scores, const Operation& operation,
                                              const KeySequence& sequence, int query, int key) {
  const Coord at = Values::coord(Values::this_lane(), 0);
  const auto first = static_cast<float>(key + at.col - sequence.position(query + at.row));
  for_each_in_rows<Values>([&](int i, int half, int column) {
    scores.reg[i] = operation(scores.reg[i], first + static_cast<float>(column - 8 * half));
  });
}

class OnlineSoftmax {
 public:
  // Nothing has been seen.
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      max_[half] = -__int_as_float(0x7f800000);
      sum_[half] = 0.0F;
    }
  }

  // Turns scores into p, and sets rescale[] to what the products with V so far must be multiplied by.
  template <class Values>
  __device__ __forceinline__ void add(Values& scores, float factor, float (&rescale)[2]) {
    float max[2] = {max_[0], max_[1]};
    for_each_in_rows<Values>([&](int i, int half, int) { max[half] = fmaxf(max[half], scores.reg[i]); });
    float reference[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      max[half] = fmaxf(max[half], __shfl_xor_sync(0xffffffffU, max[half], 1));
      max[half] = fmaxf(max[half], __shfl_xor_sync(0xffffffffU, max[half], 2));
      reference[half] = reference_of(max[half], factor);
      // Where nothing was seen before, 2^-infinity.
      rescale[half] = ptx::ex2_approx_ftz_f32(__fmul_rn(max_[half], factor) - reference[half]);
      max_[half] = max[half];
      sum_[half] *= rescale[half];
    }
    for_each_in_rows<Values>([&](int i, int half, int) {
      scores.reg[i] = ptx::ex2_approx_ftz_f32(__fmaf_rn(scores.reg[i], factor, -reference[half]));
      sum_[half] += scores.reg[i];
    });
  }

  // What a row of products with V is multiplied by at the end, and the logarithm of the sum of the
  // exponentials; 0 and -infinity where no key was seen.
  __device__ __forceinline__ void finish(float factor, float (&scale)[2], float (&log_sum_exp)[2]) const {
    constexpr float log_of_2 = 0.69314718055994531F;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum = sum_[half];
      sum += __shfl_xor_sync(0xffffffffU, sum, 1);
      sum += __shfl_xor_sync(0xffffffffU, sum, 2);
      const bool none = sum == 0.0F;
      scale[half] = none ? 0.0F : 1.0F / sum;
      log_sum_exp[half] = none ? -__int_as_float(0x7f800000)
                               : (reference_of(max_[half], factor) + __log2f(sum)) * log_of_2;
    }
  }

 private:
  // Rounded before anything is subtracted from it: it has to cancel in what is computed with it. Finite where
  // no key is seen yet.
  __device__ __forceinline__ static float reference_of(float max, float factor) {
    return max == -__int_as_float(0x7f800000) ? 0.0F : __fmul_rn(max, factor);
  }

  float max_[2], sum_[2];
};

}  // namespace tenon
