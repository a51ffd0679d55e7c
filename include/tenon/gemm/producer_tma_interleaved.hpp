// The producer for an A of any leading dimension, which TMA reads through row-interleaved (stride-8) views
// (RowInterleaved of wgmma_config.hpp). The interface is that of producer_tma.hpp, whose loop it uses. Below:
// producer_tma.hpp.
#pragma once

#include "tenon/gemm/producer_tma.hpp"
#include "tenon/gemm/row_interleaved.hpp"

namespace tenon {

// Config: RowInterleaved of a WgmmaConfig.
template <class Config>
class ProducerRowInterleaved {
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  using Views = RowInterleavedTiles<2>;
  static constexpr int parts_a = Cluster::n, parts_b = Cluster::m;
  static_assert(parts_a == 1 || parts_a == 2,
                "ProducerRowInterleaved: at most two CTAs can share A, one for each of the two views");

 public:
  TENON_HOST_DEVICE static constexpr OperandLoad<TileA> load_a(const Cluster&) {
    return OperandLoad<TileA>(parts_a);
  }
  TENON_HOST_DEVICE static constexpr OperandLoad<TileB> load_b(const Cluster&, int /*columns*/ = 0) {
    return OperandLoad<TileB>(parts_b);
  }
  using MapA = RowInterleavedMaps;  // boxes of Views::rows x Block::k
  using MapB = OperandMap;
  using Ring = TmaRing<Config::stages>;

  // TMA reads the rows of a view from up to 7 elements before the rows of A.
  TENON_HOST_DEVICE static constexpr int k_tiles(int k) {
    k += Config::views - 1;
    return k / Block::k + (k % Block::k != 0);
  }

  template <Operand operand, class Scheduler, class Map, class Synchronise>
  __device__ __forceinline__ static void run(const Map& map, const GemmArguments& p,
                                             const Scheduler& scheduler, std::uint8_t* memory,
                                             const Ring& ring, const Synchronise& synchronise) {
    if (ptx::elect_sync(0xffffffffU)) prefetch<operand>(map, scheduler);
    produce<Config, std::conditional_t<operand == Operand::a, LoadsA, LoadsB>>(map, p, scheduler, memory,
                                                                               ring, synchronise);
  }

 private:
  template <Operand operand, class Scheduler, class Map>
  __device__ __forceinline__ static void prefetch(const Map& map, const Scheduler& scheduler) {
    if constexpr (operand == Operand::a) {
      const int tile_m = scheduler.at(scheduler.first()).m;
      for (int i = 0; i < 2; ++i) prefetch_map(map.view[Views::view(tile_m, i)]);
    } else {
      prefetch_map(map.whole);
    }
  }

  class LoadsA {
   public:
    __device__ __forceinline__ LoadsA(const WorkTile& work, const GemmArguments&) : tile_m_(work.m) {}

    __device__ __forceinline__ static constexpr int bytes() { return TileA::bytes; }
    __device__ __forceinline__ void start(std::uint8_t* stage, const MapA& map, int k_tile,
                                          std::uint64_t* barrier) const {
      const int rank = Cluster::rank(static_cast<int>(blockIdx.x)), k = k_tile * Block::k;
      // A CTA that shares A loads the view of one consumer; otherwise it loads both views.
#pragma unroll 1
      for (int i = 0; i < 2 / parts_a; ++i) {
        const int consumer = parts_a == 1 ? i : Cluster::rank_n(rank);
        const TensorMap& view = map.view[Views::view(tile_m_, consumer)];
        std::uint8_t* const there = stage + consumer * Views::rows * TileA::row_bytes;
        if constexpr (parts_a == 1) {
          copy_box(there, view, Views::row_in_view(tile_m_), k, barrier);
        } else {
          copy_box_to_cluster(there, view, Views::row_in_view(tile_m_), k, barrier, Cluster::mask_a(rank));
        }
      }
    }

   private:
    int tile_m_;
  };

  class LoadsB {
   public:
    __device__ __forceinline__ LoadsB(const WorkTile& work, const GemmArguments&)
        : part_(own_part(), work.n * Block::n, load_whole_tiles) {}

    __device__ __forceinline__ static constexpr int bytes() { return TileB::bytes; }
    __device__ __forceinline__ void start(std::uint8_t* stage, const MapB& map, int k_tile,
                                          std::uint64_t* barrier) const {
      // From some rows before the k-tile on: a view of A may begin with as many elements.
      part_.start(stage + TileA::bytes, map, k_tile * Block::k - Config::most_shift, barrier);
    }

   private:
    __device__ __forceinline__ static LoadedPart own_part() {
      const int rank = Cluster::rank(static_cast<int>(blockIdx.x));
      return {parts_b, Cluster::rank_m(rank), Cluster::mask_b(rank)};
    }
    PartOfTile<TileB> part_;
  };
};

}  // namespace tenon
