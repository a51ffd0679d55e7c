// The mask of the wgmma kernels for batches of variable lengths: a window of any limits, and the lengths of
// the batch that a query tile belongs to. Host and device; plain C++17. Below: mask.hpp,
// variable_lengths.hpp.
//
// The loops of a kernel ask a mask for what they need of a tile's batch. Every mask of equal lengths answers
// with constants, and its BatchOf<Mask> is empty.
#pragma once

#include "tenon/attention/mask.hpp"
#include "tenon/attention/variable_lengths.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

struct BatchMask {
  static constexpr bool left_limit = true, right_limit = true;
  static constexpr int unlimited = LocalMask::unlimited;
  KeySequence sequence;  // the most of a batch
  int left, right;
  VariableLengths lengths;
  Divisor by_heads;  // heads of a batch
};

// What the walk over the tiles keeps of the batch of a query tile.
struct EqualBatch {};
template <class Mask>
struct BatchOfMask {
  using type = EqualBatch;
};
template <>
struct BatchOfMask<BatchMask> {
  using type = KeySequence;
};
template <class Mask>
using BatchOf = typename BatchOfMask<Mask>::type;
template <class Mask>
inline constexpr bool has_batches = !std::is_empty_v<BatchOf<Mask>>;

// Of a head of all batches.
template <class Mask>
TENON_HOST_DEVICE constexpr EqualBatch batch_of(const Mask&, int) {
  return {};
}
TENON_HOST_DEVICE inline KeySequence batch_of(const BatchMask& mask, int all_head) {
  const int batch = mask.by_heads.quotient(all_head);
  return {queries_of_batch(mask.lengths, batch, mask.sequence.queries).count,
          keys_of_batch(mask.lengths, batch, mask.sequence.keys).count};
}

// The mask within a batch.
template <class Mask>
TENON_HOST_DEVICE constexpr const Mask& in_batch(const Mask& mask, const EqualBatch&) {
  return mask;
}
TENON_HOST_DEVICE inline LocalMask in_batch(const BatchMask& mask, const KeySequence& batch) {
  return {batch, mask.left, mask.right};
}

// Where the rows of a batch begin in memory: the matrix of the batch, and the first row there.
struct BatchPlace {
  int batch, row;
};
template <class Mask>
TENON_HOST_DEVICE constexpr BatchPlace place_of_queries(const Mask&, int batch) {
  return {batch, 0};
}
template <class Mask>
TENON_HOST_DEVICE constexpr BatchPlace place_of_keys(const Mask&, int batch) {
  return {batch, 0};
}
// Of a batch whose length is 0 the row may be anything, as its offsets.
TENON_HOST_DEVICE inline BatchPlace place_of_queries(const BatchMask& mask, int batch) {
  const std::int32_t* const offsets = mask.lengths.query_offsets;
  return offsets == nullptr ? BatchPlace{batch, 0} : BatchPlace{0, offsets[batch]};
}
TENON_HOST_DEVICE inline BatchPlace place_of_keys(const BatchMask& mask, int batch) {
  const std::int32_t* const offsets = mask.lengths.key_offsets;
  return offsets == nullptr ? BatchPlace{batch, 0} : BatchPlace{0, offsets[batch]};
}

}  // namespace tenon
