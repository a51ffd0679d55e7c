// Into how many parts the mma.sync kernel splits the keys, where its tiles of queries are too few for the
// device: a chunk of a prompt or a tree of drafts before a long context. Plain C++17.
#pragma once

#include "tenon/needs_host.hpp"

#include <algorithm>
#include <cstdint>

namespace tenon {

// ctas: without splits; places: CTAs that the device holds at a time; tiles: of keys that a CTA visits.
//
// As many as fill the device once: a second wave would add to the merge and save nothing. The start and the
// end of a CTA and the merge take as long as about three tiles, so that a split has four or more, and fewer
// than 16 tiles are not split.
inline int key_splits(std::int64_t ctas, std::int64_t places, std::int64_t tiles) noexcept {
  constexpr std::int64_t least_of_split = 4, least = 16;
  if (tiles < least || ctas * 2 > places) return 1;
  const std::int64_t most = std::min(places / ctas, tiles / least_of_split);
  const std::int64_t share = (tiles + most - 1) / most;
  return static_cast<int>((tiles + share - 1) / share);  // without empty ones
}

}  // namespace tenon
