// The consumers of the cooperative kernel: each consumer warpgroup computes a part of the rows of every work
// tile of the CTA. For each work tile: mainloop, then reduction, which calls the store for each part of the
// accumulators. Below: wgmma_pieces.hpp.
#pragma once

#include "tenon/gemm/wgmma_pieces.hpp"

namespace tenon {

// Config: see WgmmaPieces, without Pingpong.
template <class Config>
struct CooperativeConsumers {
  using Pieces = WgmmaPieces<Config>;

  // Called by all threads of a consumer warpgroup. consumer: its number, below Config::consumers.
  // ring_memory: address of the ring's stages in the shared window.
  template <class Store>
  __device__ __forceinline__ static void run(int consumer, const GemmArguments& p,
                                             const typename Pieces::Scheduler& scheduler,
                                             const typename Pieces::Ring& ring, std::uint32_t ring_memory,
                                             typename Pieces::Reduction& reduction, const Store& store) {
    const auto cluster = Config::Cluster::of(p.cluster);
    const int consumer_row = consumer * Config::Warp::m;  // in the tile
    typename Config::Accumulators accumulators;
    Stage<Config::stages> stage;
    // The end is asked for again after each tile: ptxas spills a register that holds it in the largest tiles.
    for (int index = scheduler.first(); index < scheduler.end(); index += scheduler.step()) {
      const WorkTile now = scheduler.at(index);
      StageConsumer<Config> stages(ring, ring_memory, stage, now, cluster);  // advances `stage`
      Pieces::StorePlace::begin(store, now, tile_columns<Config>(p),
                                consumer_row + 16 * (static_cast<int>(threadIdx.x) / 32 % 4));
      Pieces::Mainloop::run(accumulators, stages, now, p, consumer, consumer_row, [] {});

      // Where registers are scarce, `position` holds index and stage in one register during the epilogue, and
      // `work` is computed again (held_position.hpp).
      typename Pieces::Position position(index, stage);
      const WorkTile work = position.work(now, scheduler);
      const int warp_row = consumer_row + 16 * (position.thread() / 32 % 4);
      // rows: 64 rows of accumulators that this CTA stores; row: the first of them, in the warpgroup's part.
      reduction(accumulators, work, consumer, [&](const auto& rows, int row) {
        Pieces::StorePlace::store(store, rows, work, tile_columns<Config>(p), consumer, row + warp_row);
      });
      position.restore(index, stage);
    }
    store.finish();
    reduction.finish();
  }
};

}  // namespace tenon
