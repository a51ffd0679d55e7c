// Which keys a query sees, and which key tiles a tile of queries visits: host and device. Plain C++17.
//
// A mask is a type with visible(query), the keys that a query sees; both ends of the range grow with the
// query. Query i stands at key position i + keys - queries: the sequences end together.
#pragma once

#include "tenon/fragment/host_device.hpp"

namespace tenon {

// Keys, or key tiles, begin to end - 1.
struct KeySpan {
  int begin, end;
};

TENON_HOST_DEVICE constexpr int lesser(int a, int b) {
  return a < b ? a : b;
}
TENON_HOST_DEVICE constexpr int greater(int a, int b) {
  return a < b ? b : a;
}

// The keys of a sequence, and where its queries stand among them.
struct KeySequence {
  int queries, keys;
  TENON_HOST_DEVICE constexpr int position(int query) const { return query + keys - queries; }
};

// Every query sees every key.
struct FullMask {
  static constexpr bool left_limit = false, right_limit = false;
  KeySequence sequence;
  TENON_HOST_DEVICE constexpr KeySpan visible(int) const { return {0, sequence.keys}; }
};

// A query sees the keys up to its own position.
struct CausalMask {
  static constexpr bool left_limit = false, right_limit = true;
  KeySequence sequence;
  TENON_HOST_DEVICE constexpr KeySpan visible(int query) const {
    return {0, greater(0, lesser(sequence.keys, sequence.position(query) + 1))};
  }
};

// A query sees the keys from `left` before its position to `right` after it. Both: 0 to `unlimited`.
struct LocalMask {
  static constexpr bool left_limit = true, right_limit = true;
  static constexpr int unlimited = 1 << 29;  // more than a sequence has
  KeySequence sequence;
  int left, right;
  TENON_HOST_DEVICE constexpr KeySpan visible(int query) const {
    const int at = sequence.position(query);
    return {greater(0, at - left), greater(0, lesser(sequence.keys, at + right + 1))};
  }
};

// The tiles of `tile` keys that the queries first .. last see; one at least, which they may not see: every
// tile of queries has an output.
template <class Mask>
TENON_HOST_DEVICE constexpr KeySpan key_tiles(const Mask& mask, int first, int last, int tile) {
  const int begin = mask.visible(first).begin / tile, end = (mask.visible(last).end + tile - 1) / tile;
  return {begin, greater(end, begin + 1)};
}

// Whether each of the queries first .. last sees each of the `tile` keys from `key` on.
template <class Mask>
TENON_HOST_DEVICE constexpr bool sees_all(const Mask& mask, int first, int last, int key, int tile) {
  return (!Mask::left_limit || key >= mask.visible(last).begin) && key + tile <= mask.visible(first).end;
}

}  // namespace tenon
