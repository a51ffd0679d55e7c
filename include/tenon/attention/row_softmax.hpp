// The online softmax of the rows that one lane shares with the three other lanes of its quad, in the layout
// of the accumulators of mma.sync.
//
//   RowSoftmax<4> softmax;
//   if (softmax.exceeded(maxima, factor)) { softmax.raise(maxima, factor, scale); /* scale O's rows */ }
//   p = softmax.exponential(row, score, factor);     // of each score; the row's sum grows
//
// exp2(factor * score - reference): the reference of a row is a former maximum of it, not always the latest.
// It is raised only when a score lies more than 2^`slack` above it, which is rare after the first tiles: the
// usual tile costs no shuffle and no scaling of O. P is then at most 2^slack, which f16 holds, with the same
// relative error. Types of a small range have a type `Range` of their own. Below: ptx/special_functions.hpp.
#pragma once

#include "tenon/ptx/special_functions.hpp"

namespace tenon {

// What a row of O is multiplied by at the end, and the logarithm (base 2) of the sum of its exponentials: 0
// and -infinity of a row without keys and sink.
struct RowResult {
  float scale, log2_sum;
};

// The range of P. A row's largest p is 2^offset when its reference is raised, and 2^(offset + slack) before.
struct WideRange {
  static constexpr float offset = 0, slack = 8;
};
// Of e4m3, up to 448: normal numbers from 2^-6 on. The offset is part of the sum of a row too, and cancels.
struct E4m3Range {
  static constexpr float offset = 6, slack = 2.75F;
};

// Rows: of this lane.
template <int Rows, class Range = WideRange>
class RowSoftmax {
  // Stands for no score yet. Finite, so that exp2(-infinity - reference) is 0 and not NaN.
  static constexpr float none = -1e30F;

 public:
  __device__ __forceinline__ RowSoftmax() {
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      reference_[r] = none;
      sum_[r] = 0;
    }
  }

  // Whether a row of the warp needs a new reference. maxima: the largest scores of this lane.
  __device__ __forceinline__ bool exceeded(const float (&maxima)[Rows], float factor) const {
    bool above = false;
#pragma unroll
    for (int r = 0; r < Rows; ++r)
      above = above || maxima[r] * factor > reference_[r] + (Range::offset + Range::slack);
    return __any_sync(0xffffffffU, above) != 0;
  }

  // Raises the references. scale[r]: by what this row of O is multiplied.
  __device__ __forceinline__ void raise(const float (&maxima)[Rows], float factor, float (&scale)[Rows]) {
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      float most = maxima[r];
      most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, 2));
      const float raised = fmaxf(reference_[r], fmaf(most, factor, -Range::offset));
      scale[r] = ptx::ex2_approx_ftz_f32(reference_[r] - raised);
      reference_[r] = raised;
      sum_[r] *= scale[r];
    }
  }

  // Where two warps share rows and alternate tiles of keys: each takes over what the other has raised.
  // Returns whether a row of the warp has a new reference; scale[r]: as of raise().
  __device__ __forceinline__ float reference(int row) const {
    return reference_[row];
  }
  __device__ __forceinline__ bool take_over(const float (&references)[Rows], float (&scale)[Rows]) {
    bool above = false;
#pragma unroll
    for (int r = 0; r < Rows; ++r) above = above || references[r] > reference_[r];
    if (__any_sync(0xffffffffU, above) == 0) return false;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      scale[r] = ptx::ex2_approx_ftz_f32(reference_[r] - references[r]);
      reference_[r] = references[r];
      sum_[r] *= scale[r];
    }
    return true;
  }

  __device__ __forceinline__ float exponential(int row, float score, float factor) {
    const float p = weight(row, score, factor);
    add(row, p);
    return p;
  }
  // The two halves of it.
  __device__ __forceinline__ float weight(int row, float score, float factor) const {
    return ptx::ex2_approx_ftz_f32(fmaf(score, factor, -reference_[row]));
  }
  __device__ __forceinline__ void add(int row, float weight) {
    sum_[row] += weight;
  }

  // After the last tile: the sum over the row, by the whole warp, and its logarithm (base 2) with the
  // reference. 0 and -infinity of a row that saw no key.
  __device__ __forceinline__ float sum(int row) const {
    float all = sum_[row];
    all += __shfl_xor_sync(0xffffffffU, all, 1);
    return all + __shfl_xor_sync(0xffffffffU, all, 2);
  }
  __device__ __forceinline__ float log2_sum(int row, float sum) const {
    return reference_[row] + log2f(sum);
  }
  // The same of a row that a sink joins: a score (base 2) without a value; -infinity: none. sum: sum(row).
  __device__ __forceinline__ RowResult result(int row, float sum, float sink) const {
    const float most = fmaxf(reference_[row], sink);
    const float scale = ptx::ex2_approx_ftz_f32(reference_[row] - most);
    const float all = fmaf(sum, scale, ptx::ex2_approx_ftz_f32(sink - most));
    return {all == 0 ? 0 : __fdividef(scale, all), most + log2f(all)};  // within 2 ulp
  }

 private:
  float reference_[Rows], sum_[Rows];
};

}  // namespace tenon
