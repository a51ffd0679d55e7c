// The order of the query tiles of attention where the hardware schedules the CTAs. Persistent kernels:
// persistent_scheduler.hpp. Host and device; plain C++17. Below: gemm/divisor.hpp.
//
// Order of the tiles: heads form sections whose keys and values stay in the L2 together. Within a section the
// query tiles that see most keys come first, and all heads of the section before the next query tile
// (longest work first).
#pragma once

#include "tenon/fragment/host_device.hpp"
#include "tenon/gemm/divisor.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// A query tile of a head: `head` counts all heads of all batches.
struct QueryTile {
  int tile, head;
};

// The order of the tiles, made on the host.
class AttentionRaster {
 public:
  AttentionRaster() = default;
  // All >= 1. section: heads whose keys and values the L2 holds; tiles: query tiles of a head. tiles * heads
  // must be less than 2^31. longest_last: whether later query tiles see more keys than earlier ones.
  constexpr AttentionRaster(int tiles, int heads, int section, bool longest_last)
      : tiles_(tiles),
        heads_(heads),
        section_(section < heads ? section : heads),
        longest_last_(longest_last),
        by_section_(tiles * section_),
        by_heads_(section_),
        by_last_(heads % section_ == 0 ? section_ : heads % section_) {}

  TENON_HOST_DEVICE constexpr int size() const { return tiles_ * heads_; }
  TENON_HOST_DEVICE QueryTile at(int index) const {
    const int section = by_section_.quotient(index), rest = index - section * tiles_ * section_;
    const int first = section * section_, left = heads_ - first;
    const bool last = left < section_;
    const int tile = last ? by_last_.quotient(rest) : by_heads_.quotient(rest);
    const int head = rest - tile * (last ? left : section_);
    return {longest_last_ ? tiles_ - 1 - tile : tile, first + head};
  }

 private:
  int tiles_ = 1, heads_ = 1, section_ = 1;
  bool longest_last_ = false;
  Divisor by_section_, by_heads_, by_last_;
};

}  // namespace tenon
