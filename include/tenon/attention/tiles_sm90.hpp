// The tiles of the wgmma kernel of attention that the library uses: measured on an H200. Below:
// config_wgmma.hpp, mask.hpp.
#pragma once

#include "tenon/attention/config_wgmma.hpp"
#include "tenon/attention/mask.hpp"

namespace tenon::sm90 {

// What a kernel does beside the products: nothing, a causal mask, or more, which needs registers.
enum class AttentionExtras { none, causal, more };

template <class Mask, class Score>
inline constexpr AttentionExtras extras_of = Mask::left_limit || Score::changes_scores ? AttentionExtras::more
                                             : Mask::right_limit ? AttentionExtras::causal
                                                                 : AttentionExtras::none;

// Queries, keys, query stages, key stages, ping-pong, value stages.
template <int queries, int keys, int query_stages, int key_stages, bool ping_pong = true,
          int value_stages = key_stages>
using AttentionTiles =
    AttentionSchedule<TileShape<queries, keys, 0>, query_stages, key_stages, ping_pong, value_stages>;

// Of a head dimension (of Q and K).
template <int head, AttentionExtras extras>
struct AttentionTilesOf {
  static_assert(head < 0,
                "AttentionConfigFor: the library has tiles for the head dimensions 32, 64, 96, 128, 192 and "
                "256: for another give AttentionConfig an AttentionSchedule");
};
template <AttentionExtras extras>
struct AttentionTilesOf<32, extras> {
  using type = AttentionTiles<192, 128, 2, 4>;
};
template <AttentionExtras extras>
struct AttentionTilesOf<64, extras> {
  using type = AttentionTiles<192, 128, 2, 2>;
};
template <AttentionExtras extras>
struct AttentionTilesOf<96, extras> {
  using type = AttentionTiles<128, 128, 2, 2>;
};
template <AttentionExtras extras>
struct AttentionTilesOf<128, extras> {
  using type = AttentionTiles<128, 128, 2, 2>;
};
// The CTAs of a causal mask read more from the L2 than those of none, and wait for keys longer.
template <>
struct AttentionTilesOf<128, AttentionExtras::causal> {
  using type = AttentionTiles<128, 128, 2, 3, true, 2>;
};
template <AttentionExtras extras>
struct AttentionTilesOf<192, extras> {
  using type = AttentionTiles<128, 96, 1, 2, false>;
};
template <AttentionExtras extras>
struct AttentionTilesOf<256, extras> {
  using type = AttentionTiles<128, 80, 1, 2>;
};
// Three consumer warpgroups have no registers for more.
template <>
struct AttentionTilesOf<32, AttentionExtras::more> {
  using type = AttentionTiles<128, 128, 2, 4>;
};
template <>
struct AttentionTilesOf<64, AttentionExtras::more> {
  using type = AttentionTiles<128, 128, 2, 4>;
};

// Of head dimension 128 without a mask: K and V are read a third less often. Where they leave no more rows
// and multiprocessors without work, these tiles are 4 % faster.
using LargeAttentionTiles = AttentionTiles<192, 80, 2, 3>;

// Of e4m3.
template <int head, AttentionExtras extras>
struct AttentionTilesOfE4m3 {
  static_assert(head < 0,
                "AttentionConfigFor: the library has tiles of e4m3 for the head dimensions 64, 128 and 256: "
                "for another give AttentionConfig an AttentionSchedule");
};
template <AttentionExtras extras>
struct AttentionTilesOfE4m3<64, extras> {
  using type = AttentionTiles<192, 160, 2, 2>;
};
template <AttentionExtras extras>
struct AttentionTilesOfE4m3<128, extras> {
  using type = AttentionTiles<192, 96, 2, 3>;
};
template <AttentionExtras extras>
struct AttentionTilesOfE4m3<256, extras> {
  using type = AttentionTiles<128, 96, 1, 2, false>;
};
template <>
struct AttentionTilesOfE4m3<64, AttentionExtras::more> {
  using type = AttentionTiles<128, 128, 2, 2>;
};
template <>
struct AttentionTilesOfE4m3<128, AttentionExtras::more> {
  using type = AttentionTiles<128, 128, 2, 2>;
};

template <class T, int head, AttentionExtras extras>
struct AttentionTilesOfType : AttentionTilesOf<head, extras> {};
template <int head, AttentionExtras extras>
struct AttentionTilesOfType<e4m3, head, extras> : AttentionTilesOfE4m3<head, extras> {};

// T: __half or __nv_bfloat16, or e4m3. head: dimension of Q and K; value: of V and O.
template <class T, int head, class Mask, class Score, int value = head>
using AttentionConfigFor =
    AttentionConfig<T, head, value, typename AttentionTilesOfType<T, head, extras_of<Mask, Score>>::type>;

}  // namespace tenon::sm90
