// Score functions: what happens to an element of Q K^T before the softmax. A kernel takes one as a template
// argument, and an embedder may bring another:
//
//   struct Score {
//     static constexpr bool changes_scores = true;             // false: operator() is not called
//     __device__ Score of_head(int head) const;                // loads what depends on the head
//     __device__ float operator()(float score, int position, int key) const;
//     __device__ float log2_factor() const;                    // above 0
//   };
//
// The softmax is that of log2_factor() * ln(2) * operator()(score, ...). `position` is the query's place
// among the keys (problem.hpp). Below: ptx/special_functions.hpp.
#pragma once

#include "tenon/ptx/special_functions.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

inline constexpr float log2_of_e = 1.4426950408889634F, ln_of_2 = 0.6931471805599453F;
inline constexpr float float_infinity = std::numeric_limits<float>::infinity();

// Whether a type has what a kernel calls. Of device code.
template <class Score, class = void>
inline constexpr bool is_score_function = false;
template <class Score>
inline constexpr bool is_score_function<
    Score, std::void_t<decltype(Score::changes_scores), decltype(std::declval<const Score&>().of_head(0)),
                       decltype(std::declval<const Score&>().log2_factor())>> =
    (std::is_same_v<decltype(Score::changes_scores), const bool> &&
     std::is_same_v<std::decay_t<decltype(std::declval<const Score&>().of_head(0))>, Score> &&
     std::is_same_v<decltype(std::declval<const Score&>().log2_factor()), float> &&
     std::is_invocable_r_v<float, const Score&, float, int, int>);

// scale * score, with a scale above 0. The scale is part of the exponential's argument and costs nothing.
struct PlainScore {
  static constexpr bool changes_scores = false;
  float scale;

  __device__ __forceinline__ PlainScore of_head(int) const { return *this; }
  __device__ __forceinline__ float operator()(float score, int, int) const { return score; }
  __device__ __forceinline__ float log2_factor() const { return scale * log2_of_e; }
};

// The soft cap and the ALiBi slopes of AttentionProblem, each where it is present, and any scale.
struct GeneralScore {
  static constexpr bool changes_scores = true;
  float scale;
  float soft_cap;       // 0: none
  const float* slopes;  // null: none
  float slope = 0;      // of this head

  __device__ __forceinline__ GeneralScore of_head(int head) const {
    return {scale, soft_cap, slopes, slopes != nullptr ? slopes[head] : 0.0F};
  }
  __device__ __forceinline__ float operator()(float score, int position, int key) const {
    score *= scale;
    if (soft_cap > 0) score = soft_cap * tanhf(score / soft_cap);
    return fmaf(slope, static_cast<float>(key - position), score);
  }
  __device__ __forceinline__ float log2_factor() const { return log2_of_e; }
};

}  // namespace tenon
