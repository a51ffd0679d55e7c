// What a CTA of a wgmma kernel is made of, and what follows from it. Below: cluster_shape.hpp, config.hpp,
// shared/tile.hpp, warp/warpgroup_tile.hpp, warp/promoted_tile.hpp.
#pragma once

#include "tenon/gemm/cluster_shape.hpp"
#include "tenon/gemm/config.hpp"
#include "tenon/ptx/standard.hpp"
#include "tenon/warp/promoted_tile.hpp"
#include "tenon/warp/warpgroup_tile.hpp"

namespace tenon {

// What is multiplied and accumulated. A_ and B_: element types as WarpgroupTile has them; Acc_: float,
// int32_t for 8-bit integers, or __half for operands in f16. Promotes: fp8 accumulators leave the tensor core
// every 128 of k and are added in f32 (PromotedTile).
template <class A_, class B_, class Acc_, bool Promotes = false>
struct WgmmaOperands {
  static_assert(std::is_same_v<Acc_, float> || std::is_same_v<Acc_, std::int32_t> ||
                    (std::is_same_v<Acc_, __half> && std::is_same_v<A_, __half>),
                "WgmmaOperands: accumulators are float, int32_t of 8-bit integers, or __half of operands in "
                "f16");
  using A = A_;
  using B = B_;
  using Acc = Acc_;
  static constexpr bool promotes = Promotes;
};

// Whether a cluster is of two CTAs that share operands, whatever the launch.
template <class Cluster>
constexpr bool is_a_pair() {
  if constexpr (Cluster::is_compiled) return Cluster::sharing == 2 && Cluster::k == 1;
  return false;
}

// The named barriers of a CTA that the pieces of the wgmma kernels take; 0 is __syncthreads().
struct NamedBarrier {
  static constexpr int turns = 1;             // and 2: ping-pong (pipeline/turns.hpp)
  static constexpr int cleared_shift = 1;     // and 2, a consumer each: row-interleaved views
  static constexpr int transposed_store = 3;  // to 5, a consumer each (store_tma_transposed.hpp)
  static constexpr int end_of_group = 6;      // cleared rows of a k-tile (wgmma_grouped_k.hpp)
};

// Operands: WgmmaOperands. Block: TileShape of a CTA, Block::k elements being 128 bytes. Consumers:
// warpgroups that multiply, each a part of the tile's rows. Stages: k-tiles in flight. Subtiles: epilogue
// subtiles of 16 rows x 128 bytes that each warp may have on their way to C.
template <class Operands, Order a_order_, Order b_order_, class Block_, int Consumers, int Stages,
          class Cluster_, int Subtiles>
struct WgmmaConfig {
  using T = typename Operands::A;
  using TB = typename Operands::B;
  using Acc = typename Operands::Acc;
  using Block = Block_;
  using Cluster = Cluster_;
  static constexpr bool promotes = Operands::promotes;
  static constexpr int consumers = Consumers, stages = Stages, subtiles = Subtiles;
  static_assert(Block::n >= 8 && Block::n <= 256 && Block::n % 8 == 0,
                "WgmmaConfig: the tile's columns must be a multiple of 8 from 8 to 256, the n of a wgmma");
  static_assert(Consumers >= 1 && Consumers <= 3,
                "WgmmaConfig: one, two or three warpgroups multiply; four would have too few registers");
  static_assert(Consumers < 3 || (Block::m == 192 && Block::n <= 200),
                "WgmmaConfig: three consumer warpgroups multiply tiles of 192 rows and 200 columns at most: "
                "before setmaxnreg a thread has 128 registers, and ptxas compiles for these");
  static_assert(Block::m % (64 * Consumers) == 0,
                "WgmmaConfig: the tile's rows must be 64 or a multiple for each consumer warpgroup");
  static_assert(Stages >= 2,
                "WgmmaConfig: a k-tile is loaded while another one is multiplied: 2 stages or more");
  static_assert(Subtiles >= 1, "WgmmaConfig: each warp needs memory for one epilogue subtile");
  using Warp = TileShape<Block::m / Consumers, Block::n, 0>;  // of a warpgroup
  static constexpr Order a_order = a_order_, b_order = b_order_;

  using TileA = OperandTile<T, Block::m, Block::k, a_order == Order::row_major>;
  // CTAs along m load equally many groups of 8 rows of B: two CTAs together load up to 8 rows more than the
  // tile.
  static constexpr int loaded_n =
      (Block::n + 8 * Cluster::compiled_m - 1) / (8 * Cluster::compiled_m) * (8 * Cluster::compiled_m);
  static constexpr bool b_k_major = b_order == Order::column_major;
  // Where n is contiguous B lies in panels of 128 bytes, and the last one is loaded whole, whatever the tile
  // has of it.
  static constexpr int panel_n = 128 / static_cast<int>(sizeof(TB));
  static constexpr int panels_n = (Block::n + panel_n - 1) / panel_n;
  using TileB = OperandTile<TB, b_k_major ? loaded_n : panels_n * panel_n, Block::k, b_k_major>;
  static_assert(TileA::row_bytes == 128 && TileB::row_bytes == 128,
                "WgmmaConfig: rows of shared memory must be 128 bytes, for that swizzle");
  static_assert(Block::k * TileA::element_bytes == 128,
                "WgmmaConfig: the tile's k must be 128 bytes: 64 elements of 16 bits, 128 of 8, 32 of tf32");
  static_assert(Cluster::k == 1 || Warp::m == 64,
                "WgmmaConfig: with cluster split-K each consumer warpgroup has 64 rows");

  // Columns of the narrowest tile, see Fitted.
  static constexpr int narrowest = Block::n;
  // See Pingpong, SwapAB, RowInterleaved, Stacked and StreamedK.
  static constexpr bool pingpong = false, swap_ab = false, row_interleaved = false, stacked = false,
                        streams_k = false, fetches_ahead = false;
  // Whether the tiles of the last wave are split along k between the CTAs of a cluster (TailSplit). Only for
  // the largest tiles, for which a partly filled wave costs the most time.
  static constexpr bool splits_tail = is_a_pair<Cluster>() && Warp::m > 64 && !promotes;

  using Accumulators = std::conditional_t<promotes, PromotedTile<T, Block::n, TB, Warp::m>,
                                          WarpgroupTile<T, Acc, Warp::m, Warp::n, TB>>;

  static constexpr int stage_bytes = TileA::bytes + TileB::bytes;
  static constexpr int ring_bytes = Stages * stage_bytes;
  static constexpr int warps = 4 * Consumers;  // of consumers
};

// A tile whose number of columns is chosen at launch: a multiple of column_step from Narrowest to Block::n
// (fitted_tile.hpp). So tiles share the columns of C evenly, and none is half empty. Where n is contiguous in
// B, whole panels are loaded whatever the number. Config: a WgmmaConfig.
template <class Config, int Narrowest>
struct Fitted : Config {
  static constexpr int narrowest = Narrowest;
  static_assert(Narrowest >= 8 && Narrowest < Config::Block::n && Narrowest % 8 == 0,
                "Fitted: the narrowest tile must be a multiple of 8 columns, and narrower than the tile");
  static_assert(!Config::b_k_major || Config::TileB::rows == Config::Block::n,
                "Fitted: a tile must load as many columns as it has");
  static_assert(
      Config::b_k_major || Narrowest > (Config::panels_n - 1) * Config::panel_n,
      "Fitted: where n is contiguous in B, the narrowest tile must need all panels of 128 bytes that "
      "are loaded");
  static_assert(
      Config::b_k_major || Config::Block::n % 16 == 0,
      "Fitted: where n is contiguous in B, the tile must be a multiple of 16 columns, as those of a "
      "launch are");
  static_assert(
      !Config::promotes,
      "Fitted: promoted accumulators have no tiles of several widths, since ptxas would serialise wgmma");
};

// How the consumer warpgroups of a CTA share its tiles. Cooperative: each computes a part of the rows of
// every tile, as Config says.
template <class Config>
using Cooperative = Config;

// Ping-pong (CUTLASS): two consumer warpgroups take the CTA's tiles in turn, and one multiplies while the
// other stores. Config: a WgmmaConfig of one consumer.
template <class Config>
struct Pingpong : Config {
  static_assert(
      Config::consumers == 1,
      "Pingpong: each consumer warpgroup computes whole tiles, so the configuration must have one consumer");
  static_assert(
      Config::Cluster::k == 1,
      "Pingpong: the CTAs of cluster split-K reduce their accumulators together, so there must be 1 of them");
  static_assert(!Config::promotes,
                "Pingpong: promoted accumulators leave registers for tiles of 64 rows alone, too small for "
                "one warpgroup");
  static constexpr bool pingpong = true, splits_tail = false;
  static constexpr int consumers = 2, warps = 4 * consumers;
};

// Stream-K: the k-tiles of the tiles that would not fill a wave are divided evenly among the clusters
// (tile_scheduler_stream_k.hpp), which add up through device memory.
template <class Config>
struct StreamedK : Config {
  static_assert(!Config::pingpong && !Config::promotes && Config::Cluster::k == 1,
                "StreamedK: all consumers of a CTA work on the same tile, without cluster split-K");
  static_assert(sizeof(typename Config::Acc) == 4, "StreamedK: accumulators of f32 or s32 are added up");
  static_assert(!Config::row_interleaved && !Config::stacked,
                "StreamedK: the configuration is a WgmmaConfig or SwapAB of one");
  static constexpr bool streams_k = true, splits_tail = false;
};

// Swap-AB: the kernel computes C^T = B^T A^T, and the epilogue stores it transposed. A wgmma tile has a
// multiple of 64 rows but any multiple of 8 columns: with A and B swapped, a tile can have any multiple of 16
// rows of C. That suits language models, where m is the number of tokens.
template <class Config>
struct SwapAB : Config {
  static constexpr bool swap_ab = true;
  static_assert(
      Config::TileA::element_bytes == 2 && Config::TileB::element_bytes == 2 && !Config::row_interleaved,
      "SwapAB: the elements of A and B must have 16 bits, and TMA must be able to address them as they lie");
  static_assert(
      Config::Block::n % 16 == 0,
      "SwapAB: the tile's columns, rows of C, must be a multiple of 16, the rows of an epilogue subtile");
};

// Row-interleaved (stride-8) TMA views of A, for an A of any leading dimension. TMA needs addresses that are
// multiples of 16 bytes, but only some rows of such a matrix begin there. Rows r, r + 8, r + 16, ... all
// begin at the same offset from a multiple of 16 bytes. They are a view that TMA can read, starting up to 7
// elements too early. Each consumer warpgroup has 64 rows of one view, and reads B from a row of k that lies
// as many rows earlier. A: row-major, base a multiple of 16 bytes, elements of 16 bits; B: row-major, one row
// for each k.
template <class Config>
struct RowInterleaved : Config {
  static constexpr bool row_interleaved = true;
  static constexpr int views = 8;
  static constexpr int most_shift = 8;  // elements of A, and rows of B before a k-tile's first
  static_assert(Config::TileA::element_bytes == 2 && Config::Warp::m == 64 && Config::consumers == 2 &&
                    !Config::pingpong && Config::Cluster::m == 1 && Config::Cluster::k == 1,
                "RowInterleaved: two consumer warpgroups of 64 rows each multiply elements of 16 bits, in "
                "clusters along n");
  static_assert(Config::a_order == Order::row_major && Config::b_order == Order::row_major,
                "RowInterleaved: k must be contiguous in A, and n in B");
  static_assert(Config::narrowest == Config::Block::n, "RowInterleaved: the tile must not be a Fitted one");
  using TileB = OperandTile<typename Config::TB, Config::Block::n, Config::Block::k + most_shift, false>;
  static constexpr int stage_bytes = Config::TileA::bytes + TileB::bytes;
  static constexpr int ring_bytes = Config::stages * stage_bytes;
};

// A batch of products whose matrices form one stack each: the rows of all A below each other, all columns of
// B beside each other, the rows of all C below each other. To TMA each stack is one matrix. The tiles of a
// problem must not reach into the next one: m and n are multiples of the tile's.
template <class Config>
struct Stacked : Config {
  static constexpr bool stacked = true;
  // Whether the producer fetches its first tile into the L2 before it waits for the grid before: it pays for
  // tiles of 64 x 64, on an H200 0.1 us of 4.9 with operands in the L2 and 0.6 us of 8.3 with others.
  static constexpr bool fetches_ahead = Config::Block::m * Config::Block::n <= 64 * 64;
  static_assert(Config::a_order == Order::row_major && Config::b_order == Order::column_major,
                "Stacked: k must be contiguous in A and B, or the stack would run along k");
  static_assert(Config::Cluster::ctas == 1 && !Config::swap_ab,
                "Stacked: CTAs of a cluster would share operands of different problems");
};

}  // namespace tenon
