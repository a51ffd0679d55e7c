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
                                             const GemmArguments& p, int /*consumer*/, int row,
                                             const Issued& issued) {
    using TileA = typename Config::TileA;
    using TileB = typename Config::TileB;
    accumulators.clear();
    with_columns<Config>(uniform_tile_columns<Config>(p), [&](auto of_tile) {
      constexpr int columns = decltype(of_tile)::value;
      const auto even = [&](const TileA& a, const TileB& b) {
        accumulators.template start<0, columns>(a, b, row, 0);
      };
      const auto odd = [&](const TileA& a, const TileB& b) {
        accumulators.template start<1, columns>(a, b, row, 0);
      };
      int left = work.k_count;
      stages.consume(even, [] {});
      while (true) {
        if (--left == 0) {
          accumulators.template add_last<0, 0, columns>();
          break;
        }
        stages.consume(odd, [&] { accumulators.template add_previous<1, columns>(); });
        if (--left == 0) {
          accumulators.template add_last<1, 0, columns>();
          break;
        }
        stages.consume(even, [&] { accumulators.template add_previous<0, columns>(); });
      }
    });
    issued();
    stages.release_last();
  }
};

}  // namespace tenon
