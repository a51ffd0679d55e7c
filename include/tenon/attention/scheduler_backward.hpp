// The order of the CTAs of the wgmma backward kernel of attention. Host and device; plain C++17. Below:
// scheduler.hpp.
//
// A CTA either computes the gradients of a tile of keys, and adds to dQ in f32 of its heads, or rounds a part
// of dQ of a head. Heads form sections, so small that the L2 holds dQ of three of them. The CTAs that round a
// section come after those that add to the next section, so that they seldom have to wait for its sums.
//
//   adds 0    adds 1   rounds 0    adds 2   rounds 1   ...    rounds n - 1
#pragma once

#include "tenon/attention/scheduler.hpp"

namespace tenon {

// What a CTA does. Heads count those of all batches.
struct BackwardTask {
  bool rounds;
  int tile, head;  // of keys, or if `rounds` a part of dQ and a head of queries
};

class BackwardOrder {
 public:
  BackwardOrder() = default;
  // All >= 1. tiles: of keys of a head; key_heads; section: of those; group: heads of queries for each;
  // parts: of dQ of a head. last_first: whether the last keys of a section come first.
  constexpr BackwardOrder(int tiles, int key_heads, int section, int group, int parts, bool last_first)
      : adding_(tiles, key_heads, section, last_first),
        section_(section < key_heads ? section : key_heads),
        sections_((key_heads + section_ - 1) / section_),
        tiles_(tiles),
        key_heads_(key_heads),
        group_(group),
        parts_(parts),
        by_pair_(section_ * (tiles + group * parts)),
        by_parts_(parts) {}

  TENON_HOST_DEVICE constexpr int size() const { return key_heads_ * (tiles_ + group_ * parts_); }
  TENON_HOST_DEVICE BackwardTask at(int index) const {
    const int adds = section_ * tiles_, rounds = section_ * group_ * parts_;  // of a whole section
    const int after = index - adds;
    if (after < 0) return add(index);
    // Pairs: what adds to section pair + 1 and rounds section pair. The last one may be shorter; what rounds
    // the last section follows it.
    int pair = by_pair_.quotient(after);
    if (pair > sections_ - 2) pair = sections_ - 2;
    if (pair < 0) return round(after);
    const int in_pair = after - pair * (adds + rounds);
    const int left = key_heads_ * tiles_ - (pair + 1) * adds, next = left < adds ? left : adds;
    return in_pair < next ? add((pair + 1) * adds + in_pair) : round(pair * rounds + in_pair - next);
  }

 private:
  TENON_HOST_DEVICE BackwardTask add(int number) const {
    const QueryTile tile = adding_.at(number);
    return {false, tile.tile, tile.head};
  }
  TENON_HOST_DEVICE BackwardTask round(int number) const {
    const int head = by_parts_.quotient(number);
    return {true, number - head * parts_, head};
  }

  AttentionRaster adding_;
  int section_ = 1, sections_ = 1, tiles_ = 1, key_heads_ = 1, group_ = 1, parts_ = 1;
  Divisor by_pair_, by_parts_;
};

}  // namespace tenon
