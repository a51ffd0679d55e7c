// The mainloop of a consumer warpgroup: wait until a stage is full, issue the wgmma of its k-tile, release
// the stage before it. One group of wgmma is always in flight, so a stage is released when the instructions
// on the next one have been issued.
//
// StageConsumer is what every wgmma mainloop does with the ring; MainloopWgmma issues one k-tile after the
// other. mainloop_wgmma_promoted.hpp and mainloop_wgmma_interleaved.hpp have the same interface. Below:
// tile_scheduler.hpp, wgmma_config.hpp, pipeline/tma_ring.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/fitted_tile.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/gemm/wgmma_config.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/opaque.hpp"

namespace tenon {

// The stages of one work tile as a consumer warpgroup reads them. By whole warps.
template <class Config>
class StageConsumer {
  using Cluster = typename Config::Cluster;
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;

 public:
  using Ring = TmaRing<Config::stages>;

  // memory: address of the ring's stages in the shared window. stage: the first one that is read; counted
  // up.
  __device__ __forceinline__ StageConsumer(const Ring& ring, std::uint32_t memory,
                                           Stage<Config::stages>& stage, const WorkTile& work,
                                           const Cluster& cluster)
      : ring_(ring), memory_(memory), stage_(stage), writer_(writer_of_lane(work.tail_split, cluster)) {}

  // Waits for the next stage, calls issue(a, b) with its tiles, which starts their product, then wait(),
  // after which the stage before has been read, and releases that one.
  template <class Issue, class Wait>
  __device__ __forceinline__ void consume(const Issue& issue, const Wait& wait) {
    ring_.wait_full(stage_);
    const std::uint32_t a = memory_ + stage_.index * Config::stage_bytes;
    issue(TileA{a}, TileB{a + TileA::bytes});
    wait();
    if (previous_.index != none) release(previous_);
    previous_ = stage_;
    stage_ = stage_.next();
  }
  // Waits for the next stage, calls read(a, b) with its tiles, after which it has been read, and releases it.
  template <class Read>
  __device__ __forceinline__ void consume_at_once(const Read& read) {
    ring_.wait_full(stage_);
    const std::uint32_t a = memory_ + stage_.index * Config::stage_bytes;
    read(TileA{a}, TileB{a + TileA::bytes});
    release(stage_);
    stage_ = stage_.next();
  }
  // After the last one, when it has been read too.
  __device__ __forceinline__ void release_last() const { release(previous_); }

 private:
  static constexpr int none = -1;  // no stage, no CTA

  // This warp has read the stage: says so to every CTA that writes to it.
  __device__ __forceinline__ void release(Stage<Config::stages> stage) const {
    if constexpr (!Cluster::may_share) {
      if (lane_id() == 0) ring_.release(stage);
    } else if constexpr (Cluster::is_compiled) {
      if (lane_id() < Cluster::writers) ring_.release_in(stage, writer_);
    } else {
      if (writer_ != none) ring_.release_in(stage, writer_);
    }
  }
  // The CTA that lane i signals, if i < writers. For a tail-split tile only this CTA writes its stages, so
  // every one of these lanes signals it: the barrier expects the same number of arrivals.
  __device__ __forceinline__ static int writer_of_lane(bool tail_split, const Cluster& cluster) {
    const int rank = cluster.rank(static_cast<int>(blockIdx.x)), lane = lane_id();
    int writer = tail_split ? rank : cluster.writer(rank, lane);
    if (!Cluster::is_compiled && lane >= cluster.writers) writer = none;
    // Opaque to the compiler, which would otherwise clone the loop over k-tiles and move the accumulators
    // between the registers of the two while instructions write them.
    ptx::opaque(writer);
    return writer;
  }

  const Ring& ring_;
  std::uint32_t memory_;
  Stage<Config::stages>& stage_;
  Stage<Config::stages> previous_{none, 0};
  int writer_;
};

// Config: WgmmaConfig, Pingpong or SwapAB of one.
template <class Config>
struct MainloopWgmma {
  // By all of a consumer warpgroup: multiplies the k-tiles of a work tile. row: of the warpgroup's first row
  // in the tile. issued(): called when all instructions have been issued and may still run. The accumulators
  // have their values afterwards.
  template <class Arguments, class Issued>
  __device__ __forceinline__ static void run(typename Config::Accumulators& accumulators,
                                             StageConsumer<Config>& stages, const WorkTile& work,
                                             const Arguments& p, int, int row, const Issued& issued) {
    using TileA = typename Config::TileA;
    using TileB = typename Config::TileB;
    accumulators.clear();
    // By the shuffle ptxas knows that the loop is the same for a whole warp. In half of the kernels it keeps
    // the operands' descriptors in uniform registers only then, and a k-tile takes 56 instructions instead
    // of 90.
    const int k_tiles = __shfl_sync(0xffffffffU, work.k_count, 0);
    with_columns<Config>(uniform_tile_columns<Config>(p), [&](auto columns) {
#pragma unroll 1
      for (int left = k_tiles; left > 0; --left) {
        stages.consume(
            [&](const TileA& a, const TileB& b) {
              accumulators.template start<decltype(columns)::value>(a, b, row, 0);
            },
            [&] { accumulators.wait_previous(); });
      }
    });
    issued();
    accumulators.wait();
    stages.release_last();
  }
};

}  // namespace tenon
