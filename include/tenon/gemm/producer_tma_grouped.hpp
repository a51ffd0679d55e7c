// The producer of the grouped wgmma kernels: as producer_tma.hpp, for groups of rows. TMA reads A from any
// row on, so groups need no alignment; rows of the next group that come along are multiplied and not stored.
// Of the CTAs of a cluster some share rows of A, and some columns of B (tile_scheduler_grouped.hpp): so there
// are two maps of each operand, for whole tiles and for the part of a tile that is multicast.
//
// One thread of the producer warpgroup calls prefetch() and run(). Below: arguments_grouped.hpp,
// producer_tma.hpp.
#pragma once

#include "tenon/gemm/arguments_grouped.hpp"
#include "tenon/gemm/producer_tma.hpp"

namespace tenon {

// An operand's maps: in boxes of OperandLoad(1) and of OperandLoad(CTAs of a cluster).
struct GroupedOperandMaps {
  OperandMap whole, part;
};

// What is loaded beside the operands: nothing. producer_tma_grouped_block_scaled.hpp has another.
template <class Config>
struct OperandsAlone {
  using Maps = GroupedOperandMaps;
  static constexpr int stage_bytes = Config::stage_bytes;
  __device__ __forceinline__ static void prefetch(const Maps&, const Maps&) {}
  __device__ __forceinline__ static void start(std::uint8_t*, const Maps&, const Maps&,
                                               const GroupedArguments&, const GroupedTile&, int,
                                               std::uint64_t*) {}
};

// Config: Grouped of a WgmmaConfig. Beside: OperandsAlone, or a type with its members.
template <class Config, class Beside = OperandsAlone<Config>>
class ProducerGrouped {
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  static constexpr int parts = Cluster::ctas;

 public:
  using Ring = TmaRing<Config::stages>;
  using Maps = typename Beside::Maps;  // GroupedOperandMaps, or more

  __device__ __forceinline__ static void prefetch(const Maps& map_a, const Maps& map_b) {
    prefetch_map(map_a.whole.whole);
    prefetch_map(map_b.part.whole);
    if constexpr (parts > 1) {
      prefetch_map(map_a.part.whole);
      prefetch_map(map_b.whole.whole);
    }
    Beside::prefetch(map_a, map_b);
  }

  // memory: the ring's stages.
  template <class Scheduler>
  __device__ __forceinline__ static void run(const Maps& map_a, const Maps& map_b, const GroupedArguments& p,
                                             Scheduler& scheduler, std::uint8_t* memory, const Ring& ring) {
    constexpr Stage<Config::stages> first_stage;
    Stage<Config::stages> stage = first_stage;
    for (int index = scheduler.first(); scheduler.find(index); index += scheduler.step()) {
      const GroupedTile tile = scheduler.at(index);
      const int of_group = tile.group * p.b_pitch;
      const int b_column = tile.column + (TileB::k_major ? of_group : 0);
      const int k_end = tile.work.k_begin + tile.work.k_count;
      for (int k_tile = tile.work.k_begin; k_tile < k_end; ++k_tile) {
        ring.wait_empty(stage);
        ring.expect(stage, Beside::stage_bytes);
        std::uint8_t* const to = memory + stage.index * Config::stage_bytes;
        std::uint64_t* const barrier = ring.full_barrier(stage);
        const int k = tile.k + k_tile * Block::k, b_k = k + (TileB::k_major ? 0 : of_group);
        load<TileA>(to, map_a, tile.a_row, k, tile.shares_a, barrier);
        load<TileB>(to + TileA::bytes, map_b, b_column, b_k, !tile.shares_a, barrier);
        Beside::start(to, map_a, map_b, p, tile, k_tile, barrier);
        stage = stage.next();
        // See produce().
        if (RegisterBudget<Config>::large && index == scheduler.first() && k_tile == tile.work.k_begin + 1)
          ring.wait_full(first_stage);
      }
    }
    if constexpr (parts > 1) ring.drain(stage);
  }

 private:
  template <class Tile>
  __device__ __forceinline__ static void load(std::uint8_t* to, const GroupedOperandMaps& maps, int start,
                                              int k, bool shared, std::uint64_t* barrier) {
    if (parts > 1 && shared) {
      const int rank = Cluster::rank(static_cast<int>(blockIdx.x));
      PartOfTile<Tile>({parts, rank, Cluster::mask_b(rank)}, start, load_whole_tiles)
          .start(to, maps.part, k, barrier);
    } else {
      PartOfTile<Tile>({1, 0, 0}, start, load_whole_tiles).start(to, maps.whole, k, barrier);
    }
  }
};

}  // namespace tenon
