// What is particular to groups of rows: C[rows of g] = A[rows of g] * B[g]. wgmma_grouped_k.hpp has the same
// interface. Below: arguments_grouped.hpp, wgmma_pieces.hpp.
#pragma once

#include "tenon/gemm/arguments_grouped.hpp"
#include "tenon/gemm/wgmma_pieces.hpp"

namespace tenon {

// Config: Grouped.
template <class Config>
struct RowGroups {
  using Scheduler = GroupedTileScheduler<typename Config::Cluster, Config::Block::m, Config::Block::n>;
  __device__ __forceinline__ static Scheduler scheduler(const GroupedArguments& p, int cta, int ctas) {
    return {p.rows, p.raster, p.k, cta, ctas};
  }

  // By whole warps: how many of `ctas` CTAs compute the tiles (clusters_for). The same in all warps.
  __device__ __forceinline__ static int ctas_in_use(const GroupedArguments& p, int ctas) {
    constexpr int enough = 1 << 24;  // of a lane; keeps invalid sizes from overflowing the sum
    int tiles = 0;
    for (int first = 0; first < p.rows.groups; first += 32) {  // as often in all lanes
      const int g = first + lane_id();
      int reached = 0;
      const RowRange rows = p.rows.of(min(g, p.rows.groups - 1), reached);
      const int of_group = g < p.rows.groups ? Scheduler::cluster_tiles(p.raster, rows) : 0;
      tiles = min(enough, tiles + min(enough, of_group));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      tiles += __shfl_xor_sync(0xffffffffU, tiles, distance);
    constexpr int of_cluster = Config::Cluster::ctas;
    // From lane 0, by which ptxas knows that it is the same in all lanes.
    return __shfl_sync(0xffffffffU, clusters_for(tiles, ctas / of_cluster) * of_cluster, 0);
  }

  // By all of a consumer warpgroup: multiplies the k-tiles of a work tile. row: the warpgroup's first row in
  // the tile. issued(): see MainloopWgmma. The accumulators have their values afterwards, if the group has
  // any of these rows.
  template <class Issued>
  __device__ __forceinline__ static void multiply(typename Config::Accumulators& accumulators,
                                                  StageConsumer<Config>& stages, const GroupedTile& tile,
                                                  const GroupedArguments& p, int consumer, int row,
                                                  const Issued& issued) {
    if (tile.row + row < tile.end_row) {
      multiply_rows(accumulators, stages, tile, p, consumer, row, issued);
    } else {
      // No row of the group: the tensor cores work for the other warpgroup.
      for (int left = tile.work.k_count; left > 0; --left)
        stages.consume([](const auto&, const auto&) {}, [] {});
      stages.release_last();
      issued();
    }
  }

 private:
  template <class Issued>
  __device__ __forceinline__ static void multiply_rows(typename Config::Accumulators& accumulators,
                                                       StageConsumer<Config>& stages, const GroupedTile& tile,
                                                       const GroupedArguments& p, int consumer, int row,
                                                       const Issued& issued) {
    using Mainloop = typename WgmmaPieces<Config>::Mainloop;
    if constexpr (Config::promotes) {
      const int scale_row = Config::Scales::place_anywhere(row, tile.a_row);
      Mainloop::run(accumulators, stages, tile.work, row, scale_row, issued);
    } else {
      Mainloop::run(accumulators, stages, tile.work, p, consumer, row, issued);
    }
  }
};

}  // namespace tenon
