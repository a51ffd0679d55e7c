// Which pieces a configuration is put together from, and where each has its shared memory. Below: the pieces.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/fitted_tile.hpp"
#include "tenon/gemm/held_position.hpp"
#include "tenon/gemm/mainloop_wgmma.hpp"
#include "tenon/gemm/mainloop_wgmma_block_scaled.hpp"
#include "tenon/gemm/mainloop_wgmma_block_scaled_large.hpp"
#include "tenon/gemm/mainloop_wgmma_interleaved.hpp"
#include "tenon/gemm/mainloop_wgmma_promoted.hpp"
#include "tenon/gemm/producer_tma.hpp"
#include "tenon/gemm/producer_tma_block_scaled.hpp"
#include "tenon/gemm/producer_tma_interleaved.hpp"
#include "tenon/gemm/reduction.hpp"
#include "tenon/gemm/reduction_cluster.hpp"
#include "tenon/gemm/reduction_cluster_tail.hpp"
#include "tenon/gemm/reduction_stream_k.hpp"
#include "tenon/gemm/register_budget.hpp"
#include "tenon/gemm/store_tma.hpp"
#include "tenon/gemm/store_tma_interleaved.hpp"
#include "tenon/gemm/store_tma_transposed.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/gemm/tile_scheduler_stacked.hpp"
#include "tenon/gemm/wgmma_config.hpp"

namespace tenon {

// Whether a store does something before the mainloop of a tile: begin(row, column).
template <class Store, class = void>
inline constexpr bool begins_tiles = false;
template <class Store>
inline constexpr bool begins_tiles<Store, std::void_t<decltype(std::declval<const Store&>().begin(0, 0))>> =
    true;
// Its barriers in shared memory, after those of the ring.
template <class Store, class = void>
inline constexpr int barrier_bytes_of_warp = 0;
template <class Store>
inline constexpr int barrier_bytes_of_warp<Store, std::void_t<decltype(Store::barrier_bytes_of_warp)>> =
    Store::barrier_bytes_of_warp;

// Stores a warp's rows of accumulators at their place in C. work: the work tile; columns: of a tile;
// consumer: the warpgroup's number; row: the number of the warp's first row in the tile.
template <class Config>
struct StoreInTile {
  // Before the mainloop of the tile.
  template <class Store>
  __device__ __forceinline__ static void begin(const Store& store, const WorkTile& work, int columns,
                                               int row) {
    if constexpr (begins_tiles<Store>) {
      const int first = work.m * Config::Block::m + row;
      if (Config::Block::m == 64 && !store.has_row(first)) return;
      store.begin(first, work.n * columns);
    }
  }
  template <class Store, class Rows>
  __device__ __forceinline__ static void store(const Store& store, const Rows& rows, const WorkTile& work,
                                               int columns, int /*consumer*/, int row) {
    const int first = work.m * Config::Block::m + row;
    // Tiles of 64 rows serve small m: often some warps have no row of C, and skip their subtiles.
    if (Config::Block::m == 64 && !store.has_row(first)) return;
    if constexpr (Config::narrowest < Config::Block::n) {
      store(FittedPart<Rows, Config::narrowest>{rows, columns}, first, work.n * columns);
    } else {
      store(rows, first, work.n * columns);
    }
  }
};
// The same for a RowInterleaved configuration: each consumer has the rows of one view.
template <class Config>
struct StoreInView {
  using Views = RowInterleavedTiles<2>;
  template <class Store>
  __device__ __forceinline__ static void begin(const Store&, const WorkTile&, int /*columns*/, int /*row*/) {}
  template <class Store, class Rows>
  __device__ __forceinline__ static void store(const Store& store, const Rows& rows, const WorkTile& work,
                                               int columns, int consumer, int row) {
    store(rows, Views::view(work.m, consumer), Views::row_in_view(work.m) + row % Views::rows,
          work.n * columns);
  }
};

// How the accumulators leave. Warps: how many store a transposed tile together. wgmma_fused.hpp adds
// FusedEpilogue.
template <class Config, class Op, int warps>
struct StoreOf {
  using Budget = RegisterBudget<Config>;
  using type =
      std::conditional_t<Config::swap_ab, StoreTmaTransposed<Op, Config::subtiles, warps>,
                         std::conditional_t<Config::row_interleaved,
                                            StoreTmaInterleaved<Op, Config::subtiles, Budget::rows_at_a_time>,
                                            StoreTma<Op, Config::subtiles, Budget::rows_at_a_time>>>;
};

// The producer and the mainloop of a configuration.
template <class Config>
struct OperandPieces {
  using Producer = ProducerTma<Config>;
  using Mainloop = std::conditional_t<Config::promotes, MainloopPromoted<Config>, MainloopWgmma<Config>>;
};
template <class C>
struct OperandPieces<RowInterleaved<C>> {
  using Producer = ProducerRowInterleaved<RowInterleaved<C>>;
  using Mainloop = MainloopRowInterleaved<RowInterleaved<C>>;
};
template <class C>
struct OperandPieces<BlockScaled<C>> {
  using Producer = ProducerTma<BlockScaled<C>, ScaledOperandLoads>;
  using Mainloop = BlockScaledMainloopOf<BlockScaled<C>>;
};

// Config: WgmmaConfig, Pingpong, SwapAB, RowInterleaved, BlockScaled, Stacked or StreamedK of one.
template <class Config>
struct WgmmaPieces {
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  using Budget = RegisterBudget<Config>;
  using Ring = TmaRing<Config::stages>;

  using Scheduler = std::conditional_t<Config::streams_k, StreamKTileScheduler<Cluster>,
                                       std::conditional_t<Config::stacked, StackedTileScheduler<Cluster>,
                                                          TileScheduler<Cluster, Config::splits_tail>>>;
  using Producer = typename OperandPieces<Config>::Producer;
  using Mainloop = typename OperandPieces<Config>::Mainloop;
  template <bool splits_k, bool splits_tail, class C>
  struct ReductionOf {
    using type = NoReduction<C>;
  };
  template <class C>
  struct ReductionOf<true, false, C> {
    using type = ClusterSplitKReduction<C>;
  };
  template <class C>
  struct ReductionOf<false, true, C> {
    using type = TailSplitKReduction<C>;
  };
  using Reduction =
      std::conditional_t<Config::streams_k, StreamKReduction<Config>,
                         typename ReductionOf<(Cluster::k > 1), Config::splits_tail, Config>::type>;
  using Position =
      std::conditional_t<Budget::scarce, PackedPosition<Config::stages>, HeldPosition<Config::stages>>;

  // With cluster split-K, each CTA stores the rows of some warps alone.
  static constexpr int storing_warps = Cluster::k > 1 ? 1 : 4;
  template <class Op>
  using Store = typename StoreOf<Config, Op, storing_warps>::type;
  using StorePlace = std::conditional_t<Config::row_interleaved, StoreInView<Config>, StoreInTile<Config>>;

  // Shared memory, from a multiple of 1024 bytes on: the ring, the epilogue subtiles, what the reduction
  // needs, the barriers of the ring.
  static constexpr int alignment = 1024;
  static constexpr int subtiles_at = Config::ring_bytes;
  static constexpr int reduction_at = subtiles_at + Config::warps * Config::subtiles * subtile_bytes;
  static constexpr int barriers_at = reduction_at + Reduction::bytes;
  static constexpr int shared_bytes = barriers_at + Ring::bytes;
  static_assert(shared_bytes <= most_shared_bytes,
                "WgmmaConfig: ring and epilogue subtiles are larger than the shared memory of a CTA, 227 KB: "
                "take fewer stages");

  // The same with the barriers of the store, which gets the operation as it is after it was loaded.
  template <class Op>
  static constexpr int shared_bytes_with =
      shared_bytes + Config::warps* barrier_bytes_of_warp<Store<typename LoadedOperation<Op>::type>>;

  // Consumer warps, then a warpgroup whose first two warps are the producers of A and B.
  static constexpr int threads = 32 * Config::warps + 128;
  static constexpr int producer_warp = Config::warps;
  // Consumer warps of this CTA that read each stage.
  static constexpr int warps_of_a_tile = Config::pingpong ? Config::warps / 2 : Config::warps;
};

}  // namespace tenon
