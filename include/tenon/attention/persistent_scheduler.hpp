// The tile scheduler of persistent attention kernels: it gives a CTA its next query tile and head. The same
// code runs in every role of the kernel and on the host. Plain C++17. Below: scheduler.hpp, batch_mask.hpp.
//
// Where later queries see more keys, the tiles have different lengths. Tile t of the first half of a head and
// tile T - 1 - t of the second half are a pair, and pairs are equally long: most waves consist of pairs, in
// the order of the heads, so that CTAs read the same keys and values at the same time. What is left, one to
// two waves of pairs and the odd middle tiles, is sorted by length, the longest first, and each second wave
// runs backwards: the CTA that got the longest tile of a wave gets the shortest of the next.
#pragma once

#include "tenon/attention/batch_mask.hpp"
#include "tenon/attention/mask.hpp"
#include "tenon/attention/scheduler.hpp"

namespace tenon {

// All tiles in the order of their numbers, made on the host.
class PersistentOrder {
 public:
  PersistentOrder() = default;
  // All >= 1. tiles: query tiles of a head; tiles * heads must be at most 2^30. ctas: of the grid.
  // longest_last: whether later tiles see more keys than earlier ones.
  constexpr PersistentOrder(int tiles, int heads, int ctas, bool longest_last)
      : tiles_(tiles), size_(tiles * heads), longest_last_(longest_last), by_tiles_(tiles), by_ctas_(ctas) {
    if (!longest_last) return;
    const int pairs = tiles / 2, waves = pairs * heads / ctas;
    middle_ = tiles % 2 == 0 ? 0 : heads;
    ctas_ = ctas;
    paired_waves_ = waves > 1 ? 2 * (waves - 1) : 0;
    if (pairs == 0) return;
    first_head_ = paired_waves_ / 2 * ctas / pairs;
    first_pair_ = paired_waves_ / 2 * ctas % pairs;
    left_ = heads - first_head_;
    whole_ = first_pair_ * (left_ - 1);
    cut_ = (pairs - first_pair_) * left_;
    by_pairs_ = Divisor(pairs);
    by_whole_heads_ = Divisor(greater(1, left_ - 1));
    by_heads_ = Divisor(left_);
  }

  TENON_HOST_DEVICE constexpr int size() const { return size_; }
  // The first so many waves consist of pairs.
  TENON_HOST_DEVICE constexpr int paired_waves() const { return paired_waves_; }
  TENON_HOST_DEVICE QueryTile at(int index) const {
    if (!longest_last_) {
      const int head = by_tiles_.quotient(index);
      return {index - head * tiles_, head};
    }
    const int sorted = index - paired_waves_ * ctas_;
    return sorted < 0 ? paired_at(index) : sorted_at(sorted);
  }

 private:
  // The longer tiles of a wave of pairs, then the shorter ones.
  TENON_HOST_DEVICE QueryTile paired_at(int index) const {
    const int wave = by_ctas_.quotient(index);
    const int number = wave / 2 * ctas_ + index - wave * ctas_;
    const int head = by_pairs_.quotient(number), pair = number - head * (tiles_ / 2);
    return {wave % 2 == 0 ? tiles_ - 1 - pair : pair, head};
  }
  // Of first_head_ the pairs from first_pair_ on are left, of the heads after it all; of all heads the middle
  // tiles.
  TENON_HOST_DEVICE QueryTile sorted_at(int index) const {
    if (index < whole_) {
      const int pair = by_whole_heads_.quotient(index);
      return {tiles_ - 1 - pair, first_head_ + 1 + index - pair * (left_ - 1)};
    }
    index -= whole_;
    if (index < cut_) {
      const int pair = by_heads_.quotient(index);
      return {tiles_ - 1 - first_pair_ - pair, first_head_ + index - pair * left_};
    }
    index -= cut_;
    if (index < middle_) return {tiles_ / 2, index};
    index -= middle_;
    if (index < cut_) {
      const int pair = by_heads_.quotient(index);
      return {tiles_ / 2 - 1 - pair, first_head_ + index - pair * left_};
    }
    index -= cut_;
    const int pair = by_whole_heads_.quotient(index);
    return {first_pair_ - 1 - pair, first_head_ + 1 + index - pair * (left_ - 1)};
  }

  int tiles_ = 1, size_ = 1, ctas_ = 0, paired_waves_ = 0, first_head_ = 0, first_pair_ = 0;
  // Of sorted tiles: the heads from first_head_ on; the tiles of one half of pairs before first_pair_ and
  // from it on; the middle tiles.
  int left_ = 0, whole_ = 0, cut_ = 0, middle_ = 0;
  bool longest_last_ = false;
  Divisor by_tiles_, by_ctas_, by_pairs_, by_whole_heads_, by_heads_;
};

// The tiles of one CTA, in waves.
class PersistentScheduler {
 public:
  TENON_HOST_DEVICE PersistentScheduler(const PersistentOrder& order, int cta, int ctas)
      : order_(order), cta_(cta), ctas_(ctas) {}

  // Number of the CTA's tile of a wave; order().size() or more: none, and none in later waves.
  TENON_HOST_DEVICE int index(int wave) const {
    const bool backwards = wave >= order_.paired_waves() && wave % 2 != 0;
    return wave * ctas_ + (backwards ? ctas_ - 1 - cta_ : cta_);
  }
  TENON_HOST_DEVICE const PersistentOrder& order() const { return order_; }

 private:
  const PersistentOrder& order_;
  int cta_, ctas_;
};

// A tile of keys that a tile of queries visits.
struct KeyTile {
  int head;          // counts all heads of all batches
  int query, key;    // the first of each
  bool first, last;  // whether it is the first, or the last, that its query tile visits
};
// With what the mask needs of its batch.
template <class Mask>
struct KeyTileOf : KeyTile {
  BatchOf<Mask> batch;
};

// The key tiles of all of a CTA's work, one after the other: the loop of each role. Where later queries see
// more keys, each second wave visits them from the last to the first, the others from the first to the last:
// the tiles of two such waves of a CTA are together as long as those of the others (PersistentOrder), so that
// the CTAs with the same head read the same keys at the same time.
template <class Mask, int rows, int keys>
class KeyTileWalk {
 public:
  TENON_HOST_DEVICE KeyTileWalk(const PersistentScheduler& scheduler, const Mask& mask)
      : scheduler_(scheduler), mask_(mask) {
    begin_work();
  }

  TENON_HOST_DEVICE bool ended() const { return ended_; }
  TENON_HOST_DEVICE KeyTileOf<Mask> tile() const {
    return {{work_.head, work_.tile * rows, tile_ * keys, first_, tile_ == last_}, batch_};
  }
  TENON_HOST_DEVICE const Mask& mask() const { return mask_; }
  TENON_HOST_DEVICE void next() {
    if (tile_ != last_) {
      tile_ += tile_ < last_ ? 1 : -1;
      first_ = false;
      return;
    }
    ++wave_;
    begin_work();
  }

 private:
  // Query tiles behind the last query of their batch are passed over.
  TENON_HOST_DEVICE void begin_work() {
    find_work();
    if constexpr (has_batches<Mask>) {
      while (!ended_ && work_.tile * rows >= batch_.queries) {
        ++wave_;
        find_work();
      }
    }
    if (ended_) return;
    const auto& mask = in_batch(mask_, batch_);
    const int first_query = work_.tile * rows;
    const int last_query = lesser(first_query + rows, mask.sequence.queries) - 1;
    const KeySpan tiles = key_tiles(mask, first_query, last_query, keys);
    const bool ascends = Mask::right_limit && wave_ % 2 == 0;
    tile_ = ascends ? tiles.begin : tiles.end - 1;
    last_ = ascends ? tiles.end - 1 : tiles.begin;
    first_ = true;
  }
  TENON_HOST_DEVICE void find_work() {
    const int index = scheduler_.index(wave_);
    ended_ = index >= scheduler_.order().size();
    if (ended_) return;
    work_ = scheduler_.order().at(index);
    batch_ = batch_of(mask_, work_.head);
  }

  const PersistentScheduler& scheduler_;
  const Mask& mask_;
  int wave_ = 0, tile_ = 0, last_ = 0;
  QueryTile work_{};
  BatchOf<Mask> batch_{};
  bool first_ = true, ended_ = false;
};

}  // namespace tenon
