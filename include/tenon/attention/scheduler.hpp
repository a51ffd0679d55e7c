// The tile scheduler of attention: which query tile of which head a CTA computes next. The same code runs in
// every role of the kernel and on the host. Plain C++17. Below: gemm/divisor.hpp, mask.hpp.
//
// Order of the tiles: heads form sections whose keys and values stay in the L2 together. Within a section the
// query tiles that see most keys come first, and all heads of the section before the next query tile
// (longest work first). CTA c of C takes tiles c, 2C - 1 - c, 2C + c, ...: the one that got the longest tile
// of a wave gets the shortest of the next.
#pragma once

#include <cstdint>

#include "tenon/attention/mask.hpp"
#include "tenon/gemm/divisor.hpp"

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

// The tiles of one CTA, in waves.
class AttentionScheduler {
 public:
  TENON_HOST_DEVICE AttentionScheduler(const AttentionRaster& raster, int cta, int ctas)
      : raster_(raster), cta_(cta), ctas_(ctas) {}

  // Number in the raster of the CTA's tile of a wave; size() or more: none.
  TENON_HOST_DEVICE int index(int wave) const {
    return wave * ctas_ + (wave % 2 == 0 ? cta_ : ctas_ - 1 - cta_);
  }
  TENON_HOST_DEVICE int waves() const { return (raster_.size() + ctas_ - 1) / ctas_; }
  TENON_HOST_DEVICE const AttentionRaster& raster() const { return raster_; }

 private:
  const AttentionRaster& raster_;
  int cta_, ctas_;
};

// A tile of keys that a tile of queries visits.
struct KeyTile {
  int head;          // counts all heads of all batches
  int query, key;    // the first of each
  bool first, last;  // whether it is the first, or the last, that its query tile visits
};

// The key tiles of all of a CTA's work, one after the other: the loop of each role. A query tile visits its
// key tiles from the last to the first, so that those with a mask come while nothing is there yet to be
// rescaled.
template <class Mask, int rows, int keys>
class KeyTileWalk {
 public:
  TENON_HOST_DEVICE KeyTileWalk(const AttentionScheduler& scheduler, const Mask& mask)
      : scheduler_(scheduler), mask_(mask) {
    begin_work();
  }

  TENON_HOST_DEVICE bool ended() const { return ended_; }
  TENON_HOST_DEVICE KeyTile tile() const {
    return {work_.head, work_.tile * rows, tile_ * keys, tile_ == last_, tile_ == begin_};
  }
  TENON_HOST_DEVICE void next() {
    if (tile_ != begin_) {
      --tile_;
      return;
    }
    ++wave_;
    begin_work();
  }

 private:
  TENON_HOST_DEVICE void begin_work() {
    const int index = scheduler_.index(wave_);
    ended_ = index >= scheduler_.raster().size();
    if (ended_) return;
    work_ = scheduler_.raster().at(index);
    const int first_query = work_.tile * rows;
    const int last_query = lesser(first_query + rows, mask_.sequence.queries) - 1;
    const KeySpan tiles = key_tiles(mask_, first_query, last_query, keys);
    begin_ = tiles.begin;
    last_ = tile_ = tiles.end - 1;
  }

  const AttentionScheduler& scheduler_;
  const Mask& mask_;
  int wave_ = 0, begin_ = 0, last_ = 0, tile_ = 0;
  QueryTile work_{};
  bool ended_ = false;
};

}  // namespace tenon
