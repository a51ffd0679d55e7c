// The mainloop for fp8 accumulators that are promoted: those of each k-tile, 128 of k, are added in f32 while
// the next k-tile is multiplied into other registers (warp/promoted_tile.hpp). Below: mainloop_wgmma.hpp.
#pragma once

#include "tenon/gemm/mainloop_wgmma.hpp"

namespace tenon {

// Config: WgmmaConfig of WgmmaOperands that promote. The interface is that of MainloopWgmma.
template <class Config>
struct MainloopPromoted {
  template <class Issued>
  __device__ __forceinline__ static void run(typename Config::Accumulators& accumulators,
                                             StageConsumer<Config>& stages, const WorkTile& work,
                                             const GemmArguments&, int /*consumer*/, int row,
                                             const Issued& issued) {
    using TileA = typename Config::TileA;
    using TileB = typename Config::TileB;
    accumulators.clear();
    const auto even = [&](const TileA& a, const TileB& b) { accumulators.template start<0>(a, b, row, 0); };
    const auto odd = [&](const TileA& a, const TileB& b) { accumulators.template start<1>(a, b, row, 0); };
    int left = work.k_count;
    stages.consume(even, [] {});
    while (true) {
      if (--left == 0) {
        accumulators.template add_last<0>();
        break;
      }
      stages.consume(odd, [&] { accumulators.template add_previous<1>(); });
      if (--left == 0) {
        accumulators.template add_last<1>();
        break;
      }
      stages.consume(even, [&] { accumulators.template add_previous<0>(); });
    }
    issued();
    stages.release_last();
  }
};

}  // namespace tenon
