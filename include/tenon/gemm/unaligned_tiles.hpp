// The layout of a stage of the kernel for unaligned operands. B, which wgmma reads from registers, is loaded
// in eight boxes, one for each view; A, which wgmma reads from shared memory, in boxes of one view or of
// adjacent rows. Below: tile_scheduler_unaligned.hpp, shared/tile.hpp.
#pragma once

#include "tenon/gemm/tile_scheduler_unaligned.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

template <class Config>
struct UnalignedTiles {
  using Block = typename Config::Block;
  using TileA = OperandTile<typename Config::T, Block::m, Block::k, true>;
  static constexpr int depth = Block::k;
  static constexpr int consumer_warps = 8;
  static constexpr int boxes_b = 8, box_rows_b = Block::n / boxes_b;
  // Each CTA loads half of the operand that both share.
  static constexpr int box_rows_a(bool shares_b) { return shares_b ? Block::m : Block::m / Config::cluster; }
  static constexpr int view_bytes = box_rows_b * 128;
  static constexpr int b_bytes = boxes_b * view_bytes;
  static constexpr int stage_bytes = b_bytes + TileA::bytes;
  static constexpr int loaded_bytes = Block::n * 128 + TileA::bytes;
  static_assert(b_bytes % 1024 == 0, "UnalignedTiles: A must start on a multiple of 1024 bytes");

  __device__ __forceinline__ static int shift_of_b(const UnalignedArguments& p, int view) {
    return UnalignedTileScheduler<Config>::shift_of(p.gemm.b, p.gemm.ldb, view);
  }
  // Whether the boxes of B begin a chunk of 8 elements after those of A: if the rows of B have the larger
  // offset. The remaining shift is then 0 to 7.
  __device__ __forceinline__ static bool begins_later(int shift_b, int shift_a) { return shift_b >= shift_a; }
};

}  // namespace tenon
