// The tile scheduler of a batch whose problems are stacked (Stacked in wgmma_config.hpp): walks over the
// tiles of one problem after the other. Plain C++17. Below: tile_scheduler.hpp.
#pragma once

#include "tenon/gemm/tile_scheduler.hpp"

namespace tenon {

// The raster is that of the stack of all C, with the tile rows of a problem as its band: each band is one
// problem.
template <class Cluster>
class StackedTileScheduler : public TileScheduler<Cluster, false> {
 public:
  using TileScheduler<Cluster, false>::TileScheduler;

  // B of a problem is as many tiles further along n as all problems before have.
  TENON_HOST_DEVICE WorkTile loaded(WorkTile work) const {
    work.n += this->raster_.band_of(work.m) * this->raster_.tiles_n();
    return work;
  }
};

}  // namespace tenon
