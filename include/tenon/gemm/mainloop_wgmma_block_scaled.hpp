// The mainloop for block-scaled fp8 (block_scaled.hpp): the accumulators of each k-tile are multiplied by the
// scales of A and B and added in f32, while the next k-tile is multiplied into other registers. Below:
// block_scaled_factors.hpp, mainloop_wgmma.hpp.
#pragma once

#include "tenon/gemm/block_scaled_factors.hpp"
#include "tenon/gemm/mainloop_wgmma.hpp"

namespace tenon {

// Config: BlockScaled, or Grouped of it. The interface is that of MainloopWgmma.
template <class Config>
struct MainloopBlockScaled {
  template <class Arguments, class Issued>
  __device__ __forceinline__ static void run(typename Config::Accumulators& accumulators,
                                             StageConsumer<Config>& stages, const WorkTile& work,
                                             const Arguments&, int /*consumer*/, int row,
                                             const Issued& issued) {
    run(accumulators, stages, work, row, row, issued);
  }

  // scale_row: of the warpgroup's first row among the scales of A in the stage.
  template <class Issued>
  __device__ __forceinline__ static void run(typename Config::Accumulators& accumulators,
                                             StageConsumer<Config>& stages, const WorkTile& work, int row,
                                             int scale_row, const Issued& issued) {
    Loader loader(scale_row, work.k_begin);
    const int fragments_of_first = fragments_of_first_block(work.n * Config::Block::n);
    accumulators.clear();
    typename Loader::Scales scales_even, scales_odd;
    const auto even = [&](const TileA& a, const TileB& b) {
      accumulators.template start<0>(a, b, row, 0);
      scales_even = loader.load(a.base);
      loader.advance();
    };
    const auto odd = [&](const TileA& a, const TileB& b) {
      accumulators.template start<1>(a, b, row, 0);
      scales_odd = loader.load(a.base);
      loader.advance();
    };
    int left = work.k_count;
    stages.consume(even, [] {});
    while (true) {
      if (--left == 0) {
        accumulators.template add_last<0>(scales_even.promotion(fragments_of_first));
        break;
      }
      stages.consume(
          odd, [&] { accumulators.template add_previous<1>(scales_even.promotion(fragments_of_first)); });
      if (--left == 0) {
        accumulators.template add_last<1>(scales_odd.promotion(fragments_of_first));
        break;
      }
      stages.consume(
          even, [&] { accumulators.template add_previous<0>(scales_odd.promotion(fragments_of_first)); });
    }
    issued();
    stages.release_last();
  }

 private:
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  using Loader = ScaleLoader<Config>;
};

}  // namespace tenon
