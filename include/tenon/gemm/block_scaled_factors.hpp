// The scales of block-scaled fp8 as a consumer thread of a wgmma kernel applies them (block_scaled.hpp): read
// from the stage, and as a promotion of PromotedTile. Below: block_scaled.hpp, fragment/registers.hpp,
// ptx/ld_shared.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/gemm/block_scaled.hpp"
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

// Fragments of 16 x 8 accumulators in the tile whose columns lie in the first block of B. column: of the
// tile in B.
__device__ __forceinline__ int fragments_of_first_block(int column) {
  return (scale_block - column % scale_block) / 8;
}

// Reads a thread's scales from the stages of one work tile, k-tile by k-tile. Config: BlockScaled.
template <class Config>
class ScaleLoader {
  using Stage = typename Config::Scales;

 public:
  using Scales = ThreadScales<Stage::blocks_b>;

  // row: of the warpgroup's first row among the scales of A in the stage. k_tile: the first that is loaded.
  __device__ __forceinline__ ScaleLoader(int row, int k_tile)
      : k_tile_(k_tile),
        offset_a_(static_cast<std::uint32_t>(
            4 * (row + 16 * (static_cast<int>(threadIdx.x) / 32 % 4) + lane_id() / 4))) {}

  // By whole warps. tile: address of the stage, that of its operands. part: the scales of A are those of the
  // 64 rows after 64 * part.
  __device__ __forceinline__ Scales load(std::uint32_t tile, int part = 0) const {
    Scales loaded;
    const std::uint32_t scales = tile + Config::operand_bytes;
    const std::uint32_t scales_b =
        scales + static_cast<std::uint32_t>(Stage::b_at + 4 * Stage::in_box_b(k_tile_));
#pragma unroll
    for (int half = 0; half < 2; ++half)
      loaded.a[half] = load_f32(scales + offset_a_ + static_cast<std::uint32_t>(64 * part + half * 8) * 4);
#pragma unroll
    for (int block = 0; block < Stage::blocks_b; ++block)
      loaded.b[block] = load_f32(scales_b + block * Stage::row_bytes_b);
    __syncwarp();  // all lanes have read before one of them releases the stage
    return loaded;
  }
  // The scales of this k-tile have been loaded.
  __device__ __forceinline__ void advance() {
    ++k_tile_;
  }

 private:
  __device__ __forceinline__ static float load_f32(std::uint32_t address) {
    return __uint_as_float(ptx::ld_shared_b32(address));
  }

  int k_tile_;
  std::uint32_t offset_a_;
};

}  // namespace tenon
