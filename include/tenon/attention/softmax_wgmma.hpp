// Masks, score functions and softmax on the accumulators of Q K^T, as a warpgroup holds them: a row belongs
// to the four threads of a quad, and a thread has two rows. Below: mask.hpp, row_softmax.hpp,
// score_function.hpp, fragment/registers.hpp.
#pragma once

#include "tenon/attention/mask.hpp"
#include "tenon/attention/row_softmax.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/fragment/registers.hpp"

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
    const KeySpan seen = mask.visible(query + at.row + 8 * half);
    begin[half] = seen.begin - key - at.col;
    end[half] = seen.end - key - at.col;
  }
  for_each_in_rows<Values>([&](int i, int half, int column) {
    if (column >= end[half] || (Mask::left_limit && column < begin[half]))
      scores.reg[i] = -__int_as_float(0x7f800000);
  });
}

// Replaces each score by score(s, position, key). query, key: of the first row and column.
template <class Values, class Score>
__device__ __forceinline__ void change_scores(Values& scores, const Score& score, const KeySequence& sequence,
                                              int query, int key) {
  const Coord at = Values::coord(Values::this_lane(), 0);
  const int position = sequence.position(query + at.row), first = key + at.col;
  for_each_in_rows<Values>([&](int i, int half, int column) {
    scores.reg[i] = score(scores.reg[i], position + 8 * half, first + column);
  });
}

// RowSoftmax of a thread's two rows, which knows where maxima may be found by comparing integers. References
// that it takes over are above its own, so that a bound that was positive still is.
template <class Range>
class WgmmaSoftmax : public RowSoftmax<2, Range> {
 public:
  __device__ __forceinline__ void raise(const float (&maxima)[2], float factor, float (&scale)[2]) {
    RowSoftmax<2, Range>::raise(maxima, factor, scale);
    const float zeros[2] = {};
    positive_ = !this->exceeded(zeros, factor);
  }
  // Whether only positive scores ask for new references, in all rows of the warp.
  __device__ __forceinline__ bool bounds_are_positive() const { return positive_; }

 private:
  bool positive_ = false;
};

// The largest scores of the thread's two rows. Where only positive ones matter, and as long as there are any,
// compared as integers: positive floats have the same order, negative ones are less, and VIMNMX3 compares two
// scores with the largest so far.
template <class Values, class Range>
__device__ __forceinline__ void largest_scores(const Values& scores, const WgmmaSoftmax<Range>& softmax,
                                               float (&maxima)[2]) {
  maxima[0] = scores.reg[0];
  maxima[1] = scores.reg[2];
  if (softmax.bounds_are_positive()) {
    int most[2] = {__float_as_int(maxima[0]), __float_as_int(maxima[1])};
    for_each_in_rows<Values>([&](int i, int half, int) {
      const int score = __float_as_int(scores.reg[i]);
      most[half] = most[half] > score ? most[half] : score;
    });
    maxima[0] = __int_as_float(most[0]);
    maxima[1] = __int_as_float(most[1]);
  } else {
    for_each_in_rows<Values>(
        [&](int i, int half, int) { maxima[half] = fmaxf(maxima[half], scores.reg[i]); });
  }
}

// Raises the references of the rows where the scores of a key tile ask for it. Returns whether a row of this
// warp has a new one: then its products with V so far must be multiplied by scale[] of the thread's two rows.
template <class Values, class Range>
__device__ __forceinline__ bool raise_references(const Values& scores, WgmmaSoftmax<Range>& softmax,
                                                 float factor, float (&scale)[2]) {
  float maxima[2];
  largest_scores(scores, softmax, maxima);
  const bool raised = softmax.exceeded(maxima, factor);
  if (raised) softmax.raise(maxima, factor, scale);
  return raised;
}

// Turns the scores of a key tile into p.
template <class Values, class Range>
__device__ __forceinline__ void exponentiate(Values& scores, RowSoftmax<2, Range>& softmax, float factor) {
  for_each_in_rows<Values>(
      [&](int i, int half, int) { scores.reg[i] = softmax.exponential(half, scores.reg[i], factor); });
}

// The factors of the thread's two rows of products with V, and the natural logarithms of the sums of
// exponentials: 0 and -infinity where no key was seen and there is no sink. sink: its score (base 2), or
// -infinity.
template <class Range>
__device__ __forceinline__ void finish_rows(const RowSoftmax<2, Range>& softmax, float sink,
                                            float (&scale)[2], float (&log_sum_exp)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const RowResult result = softmax.result(half, softmax.sum(half), sink);
    scale[half] = result.scale;
    log_sum_exp[half] = result.log2_sum * ln_of_2;
  }
}

}  // namespace tenon
