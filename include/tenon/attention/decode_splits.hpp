// Into how many parts attention of few queries splits the keys. Plain C++17.
#pragma once

#include "tenon/needs_host.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tenon {

inline constexpr int most_splits = 128;

// Into how many parts the keys of each key head are split. ctas: of one split; multiprocessors: of the
// device; tiles: of keys that a CTA visits without splits.
//
// In units of a tile where each multiprocessor has one CTA, a wave takes its tiles, and one for start and
// end. Memory is the limit: of fewer CTAs each has more bandwidth, up to a tenth. More than one CTA a
// multiprocessor do not read faster, so that a wave is one CTA on each. The merge reads what each split has
// written. The constants are those of an H100, microbench/HISTORY.md.
inline int decode_splits(std::int64_t ctas, int multiprocessors, std::int64_t tiles) noexcept {
  constexpr double start = 1, merge = 0.5, merge_of_split = 0.07, least_busy = 0.9;
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int splits = 1; splits <= most_splits && splits <= tiles; ++splits) {
    const std::int64_t grid = ctas * splits, share = (tiles + splits - 1) / splits;
    if ((tiles + share - 1) / share != splits) continue;  // some would be empty
    const auto waves = static_cast<double>((grid + multiprocessors - 1) / multiprocessors);
    const double busy =
        std::clamp(static_cast<double>(grid) / static_cast<double>(multiprocessors), least_busy, 1.0);
    const double time = waves * (static_cast<double>(share) * busy + start) +
                        (splits > 1 ? merge + merge_of_split * splits : 0.0);
    if (time < least * 0.98) {
      least = time;
      best = splits;
    }
  }
  return best;
}

}  // namespace tenon
