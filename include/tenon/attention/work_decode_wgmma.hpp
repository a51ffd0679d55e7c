// What a CTA of MLA decode by wgmma computes. Below: arguments_decode.hpp, ptx/opaque.hpp.
#pragma once

#include "tenon/attention/arguments_decode.hpp"
#include "tenon/ptx/opaque.hpp"

namespace tenon {

// What a CTA computes: rows of a sequence, and the tiles of keys of one split.
struct LatentWork {
  DecodeWork at;
  DecodeSequence sequence;
  int first_row, rows;   // first_row: of this CTA; rows: of the sequence
  int end;               // of the keys that a row of the cluster sees
  int first_key, tiles;  // of the split

  template <class Config>
  __device__ __forceinline__ static LatentWork of(const AttentionDecodeArguments& a) {
    // Opaque: nvcc would compute the work before the roles part, where the producer has no registers for it.
    LatentWork w{};
    w.at = decode_work(a, ptx::opaque_copy(static_cast<int>(blockIdx.x)));
    w.sequence = sequence_of(a, w.at.batch);
    w.first_row = w.at.row_tile * Config::rows;
    w.rows = w.sequence.queries * a.group;
    const int first = w.at.row_tile / Config::cluster * Config::cluster * Config::rows;
    if (first >= w.rows) {
      w.rows = 0;
      return w;
    }
    const KeyRange seen =
        keys_seen_by_one(a, w.sequence, a.by_group.quotient(first),
                         a.by_group.quotient(min(first + Config::cluster * Config::rows, w.rows) - 1));
    const SplitTiles split = tiles_of_split(a, seen, w.at.split, Config::key_tile);
    w.end = seen.end, w.first_key = split.first_key, w.tiles = split.tiles;
    return w;
  }
  // Of the whole cluster.
  __device__ __forceinline__ bool none() const { return rows == 0; }
  // The first key of a tile.
  template <class Config>
  __device__ __forceinline__ int key(int tile) const {
    return first_key + Config::key_tile * tile;
  }
};

}  // namespace tenon
