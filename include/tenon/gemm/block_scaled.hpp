// Block-scaled fp8, as DeepSeek-V3 has it (arXiv:2412.19437, section 3.3.2): A has an f32 scale for each row
// and 128 of k, B one for each 128 x 128 elements. Each k-tile's accumulators leave the tensor core and are
// multiplied by both scales when they are added up in f32.
//
// This file has the configuration: what a stage holds beside the operands, and the maps by which TMA loads
// it. Below: wgmma_config.hpp, pipeline/tensor_map.hpp.
#pragma once

#include "tenon/gemm/wgmma_config.hpp"
#include "tenon/pipeline/tensor_map.hpp"

namespace tenon {

// Rows of B (columns of its k) and of k that share a scale.
inline constexpr int scale_block = 128;

// An operand and its scales, as TMA loads them. Maps: those of the operand.
template <class Maps>
struct ScaledOperandMaps : Maps {
  TensorMap scales;
};

// The scales of a k-tile, which follow its operands in the stage: those of A's rows, then those of B. TMA
// loads multiples of 16 bytes from multiples of 16 bytes: with the k-tile's scale of B come those of the
// three k-tiles beside it. Block: the tile; its columns may lie in one or two blocks of B's.
template <class Block>
struct StageScales {
  static_assert(Block::k == scale_block, "StageScales: a k-tile has one scale of each row of A: 128 of k");
  static constexpr int blocks_b = scale_block % Block::n == 0 ? 1 : 2;
  static_assert(Block::n <= scale_block || (Block::n <= 192 && Block::n % 64 == 0),
                "StageScales: a tile has at most 128 columns, or 192: more lie in three blocks of B");
  static constexpr int box_columns_b = 4;
  // Where a k-tile's scale stands in its box.
  TENON_HOST_DEVICE static constexpr int in_box_b(int k_tile) { return k_tile & (box_columns_b - 1); }
  static constexpr int rows_a = Block::m;
  // The tiles of a group may begin at any row of A: then a box begins up to 3 rows before. A box has 256 rows
  // at most, so tiles of 256 rows have a box for each of two warpgroups.
  static constexpr int boxes_anywhere = Block::m > 252 ? 2 : 1;
  static constexpr int rows_of_box = Block::m / boxes_anywhere, rows_of_box_anywhere = rows_of_box + 4;
  // TMA writes to multiples of 128 bytes.
  static constexpr int box_bytes = (4 * rows_of_box_anywhere + 127) / 128 * 128;
  TENON_HOST_DEVICE static constexpr int rows_before(int row) { return row & 3; }
  // Where the scale of a row of the tile stands that begins at row a_row of A.
  TENON_HOST_DEVICE static constexpr int place_anywhere(int row, int a_row) {
    return row / rows_of_box * (box_bytes / 4) + row % rows_of_box + rows_before(a_row);
  }
  static constexpr int b_at = boxes_anywhere * box_bytes;
  static constexpr int row_bytes_b = 4 * box_columns_b, bytes_b = blocks_b * row_bytes_b;
  // In a stage: the next one begins where the swizzle does.
  static constexpr int bytes = (b_at + bytes_b + 1023) / 1024 * 1024;
};

// Config: WgmmaConfig of WgmmaOperands that promote.
template <class Config>
struct BlockScaled : Config {
  static_assert(Config::promotes, "BlockScaled: the accumulators must leave the tensor core each k-tile");
  using Scales = StageScales<typename Config::Block>;
  static constexpr int operand_bytes = Config::stage_bytes;
  static_assert(operand_bytes % 128 == 0, "BlockScaled: TMA writes to multiples of 128 bytes");
  static constexpr int stage_bytes = operand_bytes + Scales::bytes;
  static constexpr int ring_bytes = Config::stages * stage_bytes;
};

template <class Config>
inline constexpr bool is_block_scaled = false;
template <class Config>
inline constexpr bool is_block_scaled<BlockScaled<Config>> = true;

}  // namespace tenon
