// The mainloop for block-scaled fp8 (block_scaled.hpp): the accumulators of each k-tile are multiplied by the
// scales of A and B and added in f32, while the next k-tile is multiplied into other registers. Below:
// block_scaled.hpp, mainloop_wgmma.hpp.
#pragma once

#include "tenon/gemm/block_scaled.hpp"
#include "tenon/gemm/mainloop_wgmma.hpp"
#include "tenon/ptx/ld_shared.hpp"

namespace tenon {

// The scales of a k-tile that a thread needs: of its two rows of A, and of the one or two blocks of B in
// which the tile's columns lie.
template <int blocks_b>
struct ThreadScales {
  float a[2], b[blocks_b];

  // As a promotion of PromotedTile: total + partial * (scale of A * scale of B). fragments_of_first: 16 x 8
  // fragments whose columns lie in the first block of B.
  __device__ __forceinline__ auto promotion(int fragments_of_first) const {
    struct Promotion {
      float product[2][blocks_b];
      int fragments_of_first;
      __device__ __forceinline__ float operator()(float total, float partial, int i) const {
        const int block = blocks_b == 1 || i / 4 < fragments_of_first ? 0 : 1;
        const float(&scale)[blocks_b] = product[i / 2 % 2];
        return fmaf(partial, block == 0 ? scale[0] : scale[blocks_b - 1], total);
      }
    } promotion;
    promotion.fragments_of_first = fragments_of_first;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int block = 0; block < blocks_b; ++block) promotion.product[half][block] = a[half] * b[block];
    }
    return promotion;
  }
};

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
    const int fragments_of_first = (scale_block - work.n * Config::Block::n % scale_block) / 8;
    accumulators.clear();
    Scales scales_even, scales_odd;
    const auto even = [&](const TileA& a, const TileB& b) {
      accumulators.template start<0>(a, b, row, 0);
      scales_even = loader.load(a.base + Config::operand_bytes);
    };
    const auto odd = [&](const TileA& a, const TileB& b) {
      accumulators.template start<1>(a, b, row, 0);
      scales_odd = loader.load(a.base + Config::operand_bytes);
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
  using Stage = typename Config::Scales;
  using Scales = ThreadScales<Stage::blocks_b>;

  class Loader {
   public:
    // row: scale_row above. k_tile: the first that is loaded.
    __device__ __forceinline__ Loader(int row, int k_tile)
        : k_tile_(k_tile),
          offset_a_(static_cast<std::uint32_t>(
              4 * (row + 16 * (static_cast<int>(threadIdx.x) / 32 % 4) + lane_id() / 4))) {}

    // scales: address of the next k-tile's scales in the stage.
    __device__ __forceinline__ Scales load(std::uint32_t scales) {
      Scales loaded;
      const std::uint32_t scales_b =
          scales + static_cast<std::uint32_t>(Stage::b_at + 4 * Stage::in_box_b(k_tile_++));
#pragma unroll
      for (int half = 0; half < 2; ++half) loaded.a[half] = load_f32(scales + offset_a_ + half * 8 * 4);
#pragma unroll
      for (int block = 0; block < Stage::blocks_b; ++block)
        loaded.b[block] = load_f32(scales_b + block * Stage::row_bytes_b);
      __syncwarp();  // all lanes have read before one of them releases the stage
      return loaded;
    }

   private:
    __device__ __forceinline__ static float load_f32(std::uint32_t address) {
      return __uint_as_float(ptx::ld_shared_b32(address));
    }

    int k_tile_;
    std::uint32_t offset_a_;
  };
};

}  // namespace tenon
