// The consumers of the ping-pong kernel: two consumer warpgroups alternate the CTA's work tiles. One runs the
// mainloop of its tile while the other runs the epilogue of the tile before. Below: wgmma_pieces.hpp,
// pipeline/turns.hpp.
#pragma once

#include "tenon/gemm/wgmma_pieces.hpp"
#include "tenon/pipeline/turns.hpp"

namespace tenon {

// Config: Pingpong of a WgmmaConfig, or SwapAB of that.
template <class Config>
struct PingpongConsumers {
  using Pieces = WgmmaPieces<Config>;
  static constexpr int consumers = Config::consumers;

  // Called by all threads of a consumer warpgroup. consumer: its number, 0 or 1. ring_memory: address of the
  // ring's stages in the shared window.
  template <class Store>
  __device__ __forceinline__ static void run(int consumer, const GemmArguments& p,
                                             const typename Pieces::Scheduler& scheduler,
                                             const typename Pieces::Ring& ring, std::uint32_t ring_memory,
                                             typename Pieces::Reduction& reduction, const Store& store) {
    // The producer fills the ring with the k-tiles of one work tile after the other. So each consumer skips
    // the stages of the other consumer's tiles.
    const int k_tiles = scheduler.k_tiles();
    const auto cluster = Config::Cluster::of(p.cluster);
    typename Config::Accumulators accumulators;
    Stage<Config::stages> stage;
    stage = stage.after(consumer * k_tiles);
    const Turns<consumers> turns(consumer);
    for_each_work(scheduler, consumer, consumers, [&](int& index) {
      const WorkTile now = scheduler.at(index);
      StageConsumer<Config> stages(ring, ring_memory, stage, now, cluster);  // advances `stage`
      Pieces::StorePlace::begin(store, now, tile_columns<Config>(p),
                                16 * (static_cast<int>(threadIdx.x) / 32 % 4));
      turns.wait();
      // The turn passes when the last wgmma has been issued, so the other consumer's first wgmma follows it
      // at once.
      Pieces::Mainloop::run(accumulators, stages, now, p, consumer, 0, [&] { turns.pass(); });
      stage = stage.after((consumers - 1) * k_tiles);

      // As in the cooperative kernel.
      typename Pieces::Position position(index, stage);
      const WorkTile work = position.work(now, scheduler);
      const int warp_row = 16 * (position.thread() / 32 % 4);
      reduction(accumulators, work, consumer, [&](const auto& rows, int row) {
        Pieces::StorePlace::store(store, rows, work, tile_columns<Config>(p), consumer, row + warp_row);
      });
      position.restore(index, stage);
    });
    store.finish();
    reduction.finish();
  }
};

}  // namespace tenon
