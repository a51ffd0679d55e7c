// Into how many parts attention of few queries splits the keys. Plain C++17.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tenon {

inline constexpr int most_splits = 128;

// Into how many parts the keys of each key head are split. ctas: of one split; slots: CTAs that run at a
// time; saturating: CTAs that keep memory busy, <= slots; tiles: of keys that a CTA visits without splits.
//
// In units of a tile where all slots are busy, the time of a CTA is that of its tiles and of its start and
// end, about one. Memory is the limit: of fewer CTAs, each has more bandwidth.
inline int decode_splits(std::int64_t ctas, int slots, int saturating, std::int64_t tiles) noexcept {
  constexpr double start = 1, combine = 1;
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int splits = 1; splits <= most_splits && splits <= tiles; ++splits) {
    const std::int64_t grid = ctas * splits, share = (tiles + splits - 1) / splits;
    if ((tiles + share - 1) / share != splits) continue;  // some would be empty
    const auto waves = static_cast<double>((grid + slots - 1) / slots);
    const double busy = static_cast<double>(std::clamp<std::int64_t>(grid, saturating, slots)) / slots;
    const double time = waves * (static_cast<double>(share) * busy + start) + (splits > 1 ? combine : 0.0);
    if (time < least * 0.98) {
      least = time;
      best = splits;
    }
  }
  return best;
}

}  // namespace tenon
