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

  // By all of a consumer warpgroup: multiplies the k-tiles of a work tile, of which `row` is the warpgroup's
  // first row. issued(): see MainloopWgmma. The accumulators have their values afterwards, if the group has
  // any of these rows.
  template <class Issued>
  __device__ __forceinline__ static void multiply(typename Config::Accumulators& accumulators,
                                                  StageConsumer<Config>& stages, const GroupedTile& tile,
                                                  const GroupedArguments& p, int consumer, int row,
                                                  const Issued& issued) {
    if (tile.row + row < tile.end_row) {
      WgmmaPieces<Config>::Mainloop::run(accumulators, stages, tile.work, p, consumer, row, issued);
    } else {
      // No row of the group: the tensor cores work for the other warpgroup.
      for (int left = tile.work.k_count; left > 0; --left)
        stages.consume([](const auto&, const auto&) {}, [] {});
      stages.release_last();
      issued();
    }
  }
};

}  // namespace tenon
