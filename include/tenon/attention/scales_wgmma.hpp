// The scales of a head in the wgmma kernel of attention. Below: arguments_wgmma.hpp, fragment/element.hpp.
#pragma once

#include "tenon/attention/arguments_wgmma.hpp"
#include "tenon/fragment/element.hpp"

namespace tenon {

// Of elements of 16 bits, which have none.
template <class T>
struct HeadScales {
  __device__ __forceinline__ HeadScales(const AttentionWgmmaArguments&, int) {}
  __device__ __forceinline__ static constexpr float of_scores() { return 1; }
  __device__ __forceinline__ static constexpr float of_values() { return 1; }
};

// By what Q K^T and P V are multiplied. all_head: counts the heads of all batches.
template <>
class HeadScales<e4m3> {
 public:
  __device__ __forceinline__ HeadScales(const AttentionWgmmaArguments& p, int all_head) {
    const HeadPosition at = head_position(p, all_head);
    // Above 0 where a scale is 0 or the product underflows: 0 times the -infinity of a masked score is NaN.
    // Products of elements are below 2^26, so that scores of this scale are all about 0.
    scores_ = fmaxf(scale(p.q_scales, at) * scale(p.k_scales, at), 1e-30F);
    values_ = scale(p.v_scales, at);
  }
  __device__ __forceinline__ float of_scores() const { return scores_; }
  __device__ __forceinline__ float of_values() const { return values_; }

 private:
  __device__ __forceinline__ static float scale(const AttentionScales& of, const HeadPosition& at) {
    return of.data == nullptr ? 1.0F : of.data[at.batch * of.batch_stride + at.key_head * of.head_stride];
  }

  float scores_, values_;
};

}  // namespace tenon
