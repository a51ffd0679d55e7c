// What a block of a wgmma GEMM kernel is made of, and what follows from it. Below: shared/tile.hpp,
// warp/warpgroup_tile.hpp, warp/promoted_tile.hpp.
#pragma once

#include <type_traits>

#include "tenon/gemm/config.hpp"
#include "tenon/warp/promoted_tile.hpp"
#include "tenon/warp/warpgroup_tile.hpp"

namespace tenon {

// What is multiplied and summed. A_ and B_: element types as WarpgroupTile has them; Acc_: float, int32_t for
// 8-bit integers, or __half for operands in f16. Promotes: sums of fp8 products leave the tensor core every
// 128 of k (PromotedTile).
template <class A_, class B_, class Acc_, bool Promotes = false>
struct WgmmaOperands {
  static_assert(std::is_same_v<Acc_, float> || std::is_same_v<Acc_, std::int32_t> ||
                    (std::is_same_v<Acc_, __half> && std::is_same_v<A_, __half>),
                "WgmmaOperands: sums are float, int32_t of 8-bit integers, or __half of operands in f16");
  using A = A_;
  using B = B_;
  using Acc = Acc_;
  static constexpr bool promotes = Promotes;
};

// Blocks of a cluster, along m, n and k, numbered in that order. Those along m compute with the same columns
// of B, those along n with the same rows of A: each copies a part of what they share, and the copy engine
// writes it to all of them. Those along k compute parts of the same sums, for problems whose tiles are too
// few to occupy the device: they share nothing but the result (cluster_sum.hpp).
template <int M, int N, int K = 1>
struct ClusterShape {
  static constexpr int m = M, n = N, k = K, blocks = M * N * K;
};

// Operands: WgmmaOperands. Block: TileShape, Block::k elements being 128 bytes. Consumers: warpgroups that
// multiply, each a part of the block's rows. Stages: slabs of Block::k in flight. Staged: strips of 16 rows x
// 128 bytes that each warp may have on their way to C.
template <class Operands, Order a_order_, Order b_order_, class Block_, int Consumers, int Stages,
          class Cluster_, int Staged>
struct WgmmaConfig {
  using T = typename Operands::A;
  using TB = typename Operands::B;
  using Acc = typename Operands::Acc;
  using Block = Block_;
  using Cluster = Cluster_;
  static constexpr bool promotes = Operands::promotes;
  static constexpr int consumers = Consumers, stages = Stages, staged = Staged;
  static constexpr bool pingpong = false;
  static_assert(
      Consumers == 1 || Consumers == 2,
      "WgmmaConfig: one or two warpgroups multiply; with three, none could hold sums 256 columns wide");
  static_assert(Block::m % (64 * Consumers) == 0,
                "WgmmaConfig: the block's rows must be 64 or a multiple for each warpgroup that multiplies");
  static_assert(Stages >= 2,
                "WgmmaConfig: a slab is copied while another one is multiplied: 2 stages or more");
  static_assert(Staged >= 1, "WgmmaConfig: each warp needs memory for one strip on its way to C");
  using Warp = TileShape<Block::m / Consumers, Block::n, 0>;  // of a warpgroup
  static constexpr Order a_order = a_order_, b_order = b_order_;

  using TileA = OperandTile<T, Block::m, Block::k, a_order == Order::row_major>;
  // Blocks along m copy as many groups of 8 lines of B each: of two blocks, up to 8 more than the tile has.
  static constexpr int copied_n = (Block::n + 8 * Cluster::m - 1) / (8 * Cluster::m) * (8 * Cluster::m);
  static constexpr bool b_k_major = b_order == Order::column_major;
  using TileB = OperandTile<TB, b_k_major ? copied_n : Block::n, Block::k, b_k_major>;
  static_assert(TileA::line_bytes == 128 && TileB::line_bytes == 128,
                "WgmmaConfig: lines of shared memory must be 128 bytes, for that swizzle");
  static_assert(Block::k * TileA::element_bytes == 128,
                "WgmmaConfig: the block's k must be 128 bytes: 64 elements of 16 bits, 128 of 8, 32 of tf32");
  static_assert(!promotes || Warp::m == 64,
                "WgmmaConfig: a warpgroup that promotes its sums has registers for 64 rows of them");
  // See EveryEighthLine, and Turned.
  static constexpr bool eighths = false, turned = false;

  using Sums = std::conditional_t<promotes, PromotedTile<T, Block::n, TB>,
                                  WarpgroupTile<T, Acc, Warp::m, Warp::n, TB>>;

  static constexpr int stage_bytes = TileA::bytes + TileB::bytes;
  static constexpr int ring_bytes = Stages * stage_bytes;
  static constexpr int warps = 4 * Consumers;  // that multiply
  static_assert(Cluster::k == 1 || Warp::m == 64,
                "WgmmaConfig: with blocks along k each warpgroup that multiplies has 64 rows");
};

// How the warpgroups of a block share its tiles. Cooperative: each computes a part of the rows of every tile,
// as Config says.
template <class Config>
using Cooperative = Config;

// Ping-pong, as CUTLASS has named it: two warpgroups take the block's tiles by turns, and one multiplies
// while the other stores. Config: a WgmmaConfig of one warpgroup.
template <class Config>
struct Pingpong : Config {
  static_assert(Config::consumers == 1,
                "Pingpong: each warpgroup computes whole tiles, so the configuration must have one consumer");
  static_assert(Config::Cluster::k == 1,
                "Pingpong: blocks along k add up their sums together, so there must be 1 of them");
  static_assert(
      !Config::promotes,
      "Pingpong: promoted sums leave registers for tiles of 64 rows alone, too small for one warpgroup");
  static constexpr bool pingpong = true;
  static constexpr int consumers = 2, warps = 4 * consumers;
};

// Config, for the transpose of C: A and B have each other's places, and what the kernel's sums have as rows
// are columns of C. wgmma has tiles of 64, 128 or 256 rows but of any multiple of 8 columns: so have these of
// C's rows, of which products of language models have as many as there are tokens.
template <class Config>
struct Turned : Config {
  static constexpr bool turned = true;
  static_assert(
      Config::TileA::element_bytes == 2 && Config::TileB::element_bytes == 2 && !Config::eighths,
      "Turned: the elements of A and B must have 16 bits, and lie where the copy engine reads them");
  static_assert(Config::Block::n % 16 == 0,
                "Turned: the block's columns, rows of C, must be a multiple of 16, which leave in a box");
};

// Config, with A at any leading dimension. The copy engine begins at multiples of 16 bytes, where only some
// lines of such a matrix begin; but every eighth line lies equally: such lines are a matrix of their own that
// the copy engine can read, at most 7 elements further right than it should be. Each warpgroup has 64 of
// them, and takes B from as many lines of k further up. A: row-major, from a multiple of 16 bytes on,
// elements of 16 bits; B: row-major, a line for each k, so that lines can be counted off.
template <class Config>
struct EveryEighthLine : Config {
  static constexpr bool eighths = true;
  static constexpr int most_shift = 8;  // elements, and lines of B before a slab's first
  static_assert(
      Config::TileA::element_bytes == 2 && Config::Warp::m == 64 && Config::consumers == 2 &&
          !Config::pingpong && Config::Cluster::m == 1 && Config::Cluster::k == 1,
      "EveryEighthLine: two warpgroups multiply 64 rows each of elements of 16 bits, in clusters along n");
  static_assert(Config::a_order == Order::row_major && Config::b_order == Order::row_major,
                "EveryEighthLine: k must be contiguous in A, and n in B");
  using TileB = OperandTile<typename Config::TB, Config::Block::n, Config::Block::k + most_shift, false>;
  static constexpr int stage_bytes = Config::TileA::bytes + TileB::bytes;
  static constexpr int ring_bytes = Config::stages * stage_bytes;
};

}  // namespace tenon
