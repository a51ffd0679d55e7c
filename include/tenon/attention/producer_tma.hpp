// The producer of the wgmma kernel of attention: one thread loads the query, key and value tiles of all of
// the CTA's work by TMA, as far ahead as the rings allow. Below: config_wgmma.hpp, persistent_scheduler.hpp,
// pipeline/tma_box_4d.hpp.
#pragma once

#include "tenon/attention/arguments_wgmma.hpp"
#include "tenon/attention/config_wgmma.hpp"
#include "tenon/pipeline/tma_box_4d.hpp"

namespace tenon {

// Of Q, K and V: dimensions head dimension, rows, heads, batches; boxes of a tile's rows x a panel's columns.
struct AttentionMaps {
  TensorMap q, k, v;
};

template <class Config>
class AttentionProducer {
  using TileQ = typename Config::TileQ;
  using TileK = typename Config::TileK;
  using TileV = typename Config::TileV;

 public:
  // By one thread. memory: of the CTA, aligned.
  __device__ __forceinline__ AttentionProducer(const AttentionMaps& maps, const AttentionWgmmaArguments& p,
                                               const AttentionRings<Config>& rings, std::uint8_t* memory)
      : maps_(maps), p_(p), rings_(rings), memory_(memory) {}

  // The consumers compute the scores of a key tile before they need the values of the tile before, and are
  // done with a query tile before they have read its last values. Loads are started in that order.
  template <class Walk>
  __device__ __forceinline__ void run(Walk walk) {
    if (walk.ended()) return;
    KeyTile now = walk.tile();
    load_queries(now, walk.mask());
    load_keys(now, walk.mask());
#pragma unroll 1
    while (true) {
      walk.next();
      if (walk.ended()) break;
      const KeyTile next = walk.tile();
      if (next.first && Config::query_stages > 1) load_queries(next, walk.mask());
      load_keys(next, walk.mask());
      load_values(now, walk.mask());
      if (next.first && Config::query_stages == 1) load_queries(next, walk.mask());
      now = next;
    }
    load_values(now, walk.mask());
  }

 private:
  template <class Mask>
  __device__ __forceinline__ void load_queries(const KeyTile& tile, const Mask& mask) {
    const HeadPosition at = head_position(p_, tile.head);
    const BatchPlace place = place_of_queries(mask, at.batch);
    load<TileQ>(rings_.queries, query_, maps_.q, memory_, {place.row + tile.query, at.head, place.batch});
  }
  template <class Mask>
  __device__ __forceinline__ void load_keys(const KeyTile& tile, const Mask& mask) {
    const HeadPosition at = head_position(p_, tile.head);
    const BatchPlace place = place_of_keys(mask, at.batch);
    load<TileK>(rings_.keys, key_, maps_.k, memory_ + Config::keys_at,
                {place.row + tile.key, at.key_head, place.batch});
  }
  template <class Mask>
  __device__ __forceinline__ void load_values(const KeyTile& tile, const Mask& mask) {
    const HeadPosition at = head_position(p_, tile.head);
    const BatchPlace place = place_of_keys(mask, at.batch);
    load<TileV>(rings_.loaded_values(), value_, maps_.v, memory_ + Config::values_at,
                {place.row + tile.key, at.key_head, place.batch});
  }

  template <class Tile, int stages>
  __device__ __forceinline__ static void load(const TmaRing<stages>& ring, Stage<stages>& stage,
                                              const TensorMap& map, std::uint8_t* memory, BoxPosition at) {
    ring.wait_empty(stage);
    ring.expect(stage, Tile::bytes);
    std::uint8_t* const to = memory + stage.index * Tile::bytes;
#pragma unroll
    for (int panel = 0; panel < Tile::panels; ++panel)
      copy_box_4d(to + panel * Tile::panel_bytes, map, at, panel * Tile::panel_columns,
                  ring.full_barrier(stage));
    stage = stage.next();
  }

  const AttentionMaps& maps_;
  const AttentionWgmmaArguments& p_;
  const AttentionRings<Config>& rings_;
  std::uint8_t* memory_;
  Stage<Config::query_stages> query_;
  Stage<Config::key_stages> key_;
  Stage<Config::value_stages> value_;
};

}  // namespace tenon
