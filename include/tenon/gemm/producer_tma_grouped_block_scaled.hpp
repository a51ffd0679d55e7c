// What the producer of grouped products loads beside block-scaled operands: their scales. TMA reads the
// scales of A from multiples of 4 rows on, 16 bytes; those of B's groups stand below each other. Below:
// block_scaled.hpp, producer_tma_grouped.hpp.
#pragma once

#include "tenon/gemm/block_scaled.hpp"
#include "tenon/gemm/producer_tma_grouped.hpp"

namespace tenon {

// scales: of A with boxes of 1 x Scales::rows_of_box_anywhere, of B with boxes of Scales::blocks_b x
// box_columns_b.
struct ScaledGroupedMaps : GroupedOperandMaps {
  TensorMap scales;
};

// Config: Grouped of BlockScaled. Each CTA loads its scales itself, as in producer_tma_block_scaled.hpp.
template <class Config>
struct GroupedBlockScales {
  using Scales = typename Config::Scales;
  using Maps = ScaledGroupedMaps;
  static constexpr int stage_bytes =
      Config::operand_bytes + 4 * Scales::boxes_anywhere * Scales::rows_of_box_anywhere + Scales::bytes_b;

  __device__ __forceinline__ static void prefetch(const Maps& map_a, const Maps& map_b) {
    prefetch_map(map_a.scales);
    prefetch_map(map_b.scales);
  }
  // to: the stage.
  __device__ __forceinline__ static void start(std::uint8_t* to, const Maps& map_a, const Maps& map_b,
                                               const GroupedArguments& p, const GroupedTile& tile, int k_tile,
                                               std::uint64_t* barrier) {
    std::uint8_t* const scales = to + Config::operand_bytes;
    const int block_b = tile.group * p.scale_b_pitch + tile.column / scale_block;
    const int row = tile.a_row - Scales::rows_before(tile.a_row);
#pragma unroll
    for (int box = 0; box < Scales::boxes_anywhere; ++box)
      copy_box(scales + box * Scales::box_bytes, map_a.scales, k_tile, row + box * Scales::rows_of_box,
               barrier);
    copy_box(scales + Scales::b_at, map_b.scales, block_b, k_tile - Scales::in_box_b(k_tile), barrier);
  }
};

}  // namespace tenon
