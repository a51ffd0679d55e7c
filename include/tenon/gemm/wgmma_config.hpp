// What a block of a wgmma GEMM kernel is made of, and what follows from it. Below: shared/tile.hpp,
// warp/warpgroup_tile.hpp.
#pragma once

#include "tenon/gemm/config.hpp"
#include "tenon/warp/warpgroup_tile.hpp"

namespace tenon {

// Blocks of a cluster, along m, n and k. Those along m compute with the same columns of B, those along n with
// the same rows of A: each copies a part of what they share, and the copy engine writes it to all of them.
// Those along k compute parts of the same sums, for problems whose tiles are too few to occupy the device:
// they share nothing but the result (cluster_sum.hpp).
template <int M, int N, int K = 1>
struct ClusterShape {
  static constexpr int m = M, n = N, k = K, blocks = M * N * K;
  static_assert(K == 1 || M * N == 1,
                "ClusterShape: blocks along k share no operands: with k > 1, m = n = 1");
};

// T_: __half or __nv_bfloat16; sums in float. Block: TileShape. Consumers: warpgroups that multiply, each a
// part of the block's rows. Stages: slabs of Block::k in flight. Staged: strips of 16 rows x 128 bytes that
// each warp may have on their way to C.
template <class T_, Order a_order_, Order b_order_, class Block_, int Consumers, int Stages, class Cluster_,
          int Staged>
struct WgmmaConfig {
  using T = T_;
  using Acc = float;
  using Block = Block_;
  using Cluster = Cluster_;
  static constexpr int consumers = Consumers, stages = Stages, staged = Staged;
  static_assert(
      Consumers == 1 || Consumers == 2,
      "WgmmaConfig: one or two warpgroups multiply; with three, none could hold sums 256 columns wide");
  static_assert(Block::m % (64 * Consumers) == 0,
                "WgmmaConfig: the block's rows must be 64 or a multiple for each warpgroup that multiplies");
  using Warp = TileShape<Block::m / Consumers, Block::n, 0>;  // of a warpgroup
  static constexpr Order a_order = a_order_, b_order = b_order_;

  using TileA = OperandTile<T, Block::m, Block::k, a_order == Order::row_major>;
  using TileB = OperandTile<T, Block::n, Block::k, b_order == Order::column_major>;
  static_assert(TileA::line_bytes == 128 && TileB::line_bytes == 128,
                "WgmmaConfig: lines of shared memory must be 128 bytes, for that swizzle");
  using Sums = WarpgroupTile<T, float, Warp::m, Warp::n>;

  static constexpr int stage_bytes = TileA::bytes + TileB::bytes;
  static constexpr int ring_bytes = Stages * stage_bytes;
  static constexpr int warps = 4 * Consumers;  // that multiply
  static_assert(Cluster::k == 1 || Warp::m == 64,
                "WgmmaConfig: with blocks along k each warpgroup that multiplies has 64 rows");
};

}  // namespace tenon
