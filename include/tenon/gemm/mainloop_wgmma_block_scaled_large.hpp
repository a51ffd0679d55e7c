// The mainloop for block-scaled fp8 in tiles that leave registers for one set of partial accumulators:
// 128 x 192 and 256 x 128. A warpgroup waits for the products of a k-tile before it multiplies them by the
// scales of A and B and adds them; the tensor core computes those of the other warpgroup meanwhile. Larger
// tiles move fewer bytes, which counts at the power limit. Below: mainloop_wgmma_block_scaled.hpp.
#pragma once

#include "tenon/gemm/mainloop_wgmma_block_scaled.hpp"

namespace tenon {

// Config: BlockScaled, or Grouped of it. The interface is that of MainloopBlockScaled.
template <class Config>
struct MainloopBlockScaledLarge {
  template <class Arguments, class Issued>
  __device__ __forceinline__ static void run(typename Config::Accumulators& accumulators,
                                             StageConsumer<Config>& stages, const WorkTile& work,
                                             const Arguments&, int /*consumer*/, int row,
                                             const Issued& issued) {
    run(accumulators, stages, work, row, row, issued);
  }

  template <class Issued>
  __device__ __forceinline__ static void run(typename Config::Accumulators& accumulators,
                                             StageConsumer<Config>& stages, const WorkTile& work, int row,
                                             int scale_row, const Issued& issued) {
    Loader loader(scale_row, work.k_begin);
    accumulators.clear();
    // By one shuffle ptxas knows that the loop is the same for a whole warp, and keeps the operands'
    // descriptors in uniform registers. (By two it does not.)
    if constexpr (blocks_b == 1) {
      multiply<16>(accumulators, stages, __shfl_sync(0xffffffffU, work.k_count, 0), row, loader);
    } else {
      // A loop for each place of the boundary between the blocks of B: choosing a scale for each accumulator
      // would take a quarter more time.
      const int first = __shfl_sync(0xffffffffU, fragments_of_first_block(work.n * Config::Block::n), 0);
      if (first == 16)
        multiply<16>(accumulators, stages, work.k_count, row, loader);
      else
        multiply<8>(accumulators, stages, work.k_count, row, loader);
    }
    issued();
  }

 private:
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  using Loader = ScaleLoader<Config>;
  static constexpr int parts = Config::Accumulators::parts, blocks_b = Config::Scales::blocks_b;
  static_assert(
      blocks_b == 1 || Config::Block::n % 64 == 0,
      "MainloopBlockScaledLarge: a tile's columns must be a multiple of 64: the loops know two places for "
      "the boundary between blocks of B");

  template <int fragments_of_first>
  __device__ __forceinline__ static void multiply(typename Config::Accumulators& accumulators,
                                                  StageConsumer<Config>& stages, int k_tiles, int row,
                                                  Loader& loader) {
#pragma unroll 1
    for (int left = k_tiles; left > 0; --left) {
      typename Loader::Scales scales;
      stages.consume_at_once([&](const TileA& a, const TileB& b) {
        accumulators.template start<0>(a, b, row, 0);
        scales = loader.load(a.base);
        if constexpr (parts == 2) {
          accumulators.template add_last<0, 0>(scales.promotion(fragments_of_first));
          accumulators.template start<0>(a, b, row + 64, 0);
          scales = loader.load(a.base, 1);
        }
        loader.advance();
        accumulators.wait();
      });
      accumulators.template add_last<0, parts - 1>(scales.promotion(fragments_of_first));
    }
  }
};

// The mainloop of a block-scaled configuration.
template <class Config>
using BlockScaledMainloopOf =
    std::conditional_t<Config::Accumulators::sets == 1, MainloopBlockScaledLarge<Config>,
                       MainloopBlockScaled<Config>>;

}  // namespace tenon
