// The arguments of the mma.sync attention kernel besides its score function. Plain C++17. Below: problem.hpp,
// scheduler.hpp, variable_lengths.hpp.
#pragma once

#include "tenon/attention/problem.hpp"
#include "tenon/attention/scheduler.hpp"
#include "tenon/attention/variable_lengths.hpp"
#include "tenon/fragment/host_device.hpp"

namespace tenon {

struct AttentionArguments {
  AttentionTensor<const void*> q, k, v;
  AttentionTensor<void*> o;
  float* log_sum_exp;  // may be null
  const float* sinks;  // of the heads; may be null
  int queries, keys, heads;
  AttentionRaster raster;      // of tiles of queries, and heads of all batches
  Divisor by_heads, by_group;  // of a head of all batches by heads; of a head by heads / key_heads
  int left, right;             // of the window; no limit: unlimited_keys
  // Read where the kernel has Sequences::variable:
  VariableLengths lengths;
  // Where the grid has several splits: of each row and split, O and the logarithm (base 2) of the sum of its
  // weights. The rows are counted as those of the log-sum-exp.
  float *split_o, *split_log2_sums;

  // What a limit of the window is where there is none. Positions and keys are below 2^29, so that sums of
  // them fit an int.
  static constexpr int unlimited_keys = 1 << 29;
};

// A range of keys, empty where end <= begin.
struct KeyRange {
  int begin, end;
};

// The keys that at least one of the queries `first` to `last` sees: what a tile of queries must visit.
// sequence: the lengths of the batch, as EqualSequence or BatchSequence (variable_lengths.hpp).
template <class Sequence>
TENON_HOST_DEVICE constexpr KeyRange visible_keys(const AttentionArguments& a, const Sequence& sequence,
                                                  int first, int last) {
  const int offset = sequence.keys() - sequence.queries();
  const int begin = first + offset - a.left, end = last + offset + a.right + 1;
  return {begin < 0 ? 0 : begin, end < sequence.keys() ? end : sequence.keys()};
}

// Tiles of keys in a row: the first key of the first one, and their number.
struct SplitTiles {
  int first_key, tiles;
};
// Those of `tile` keys that have the keys `seen`.
TENON_HOST_DEVICE constexpr SplitTiles tiles_of(const KeyRange& seen, int tile) {
  const int first = seen.begin / tile;
  return {first * tile, seen.end > seen.begin ? (seen.end - 1) / tile + 1 - first : 0};
}
// Those of one split, of `share` tiles each as long as there are.
TENON_HOST_DEVICE constexpr SplitTiles tiles_of_split(const SplitTiles& all, int split, int share, int tile) {
  const int begin = split * share < all.tiles ? split * share : all.tiles;
  const int end = begin + share < all.tiles ? begin + share : all.tiles;
  return {all.first_key + begin * tile, end - begin};
}

// The keys that every query from first to last sees. A tile of these keys needs no mask.
template <class Sequence>
TENON_HOST_DEVICE constexpr KeyRange common_keys(const AttentionArguments& a, const Sequence& sequence,
                                                 int first, int last) {
  const int offset = sequence.keys() - sequence.queries();
  const int begin = last + offset - a.left, end = first + offset + a.right + 1;
  return {begin < 0 ? 0 : begin, end < sequence.keys() ? end : sequence.keys()};
}

}  // namespace tenon
