// The GEMM of wgmma for unaligned operands: k contiguous in both, elements of 16 bits, any pointers and
// leading dimensions, no copies.
//
// TMA needs addresses that are multiples of 16 bytes, but only some rows of such a matrix begin there. Rows
// r, r + 8, r + 16, ... all begin at the same offset from a multiple of 16 bytes. They are a row-interleaved
// (stride-8) view that TMA can read from the multiple before, up to 7 elements too early.
//
// wgmma reads one operand, its B, from shared memory, where all rows of a tile must have the same offset.
// That operand is the A of the problem: a tile has rows of one view of A, and computes the rows of C with the
// same stride. wgmma reads the other operand, its A, from registers, where each row can be shifted
// (ShiftedRows). That operand is the B of the problem: a tile has adjacent columns of B, from all eight
// views. So the accumulators are C^T (StoreUnalignedTransposed). If A is aligned, or is copied to aligned
// memory, a tile has adjacent rows of A.
//
// The roles: a producer warp; two consumer warpgroups; three store warps, which store the last rows of a tile
// while the consumers multiply the next one. The two CTAs of a cluster lie along n and share the k-tiles of
// A, or along m and share those of B. If the last wave has few tiles, both CTAs compute half of k of one tile
// (tail split-K). With A and B swapped (UnalignedConfig) the accumulators are C (StoreUnaligned). Below:
// mainloop_wgmma_unaligned.hpp, producer_tma_unaligned.hpp, reduction_cluster_halves.hpp,
// register_budget.hpp, store_unaligned.hpp, tile_scheduler_unaligned.hpp, ptx/setmaxnreg.hpp.
#pragma once

#include "tenon/ptx/needs_sm_90a.hpp"

#include "tenon/gemm/mainloop_wgmma_unaligned.hpp"
#include "tenon/gemm/producer_tma_unaligned.hpp"
#include "tenon/gemm/reduction_cluster_halves.hpp"
#include "tenon/gemm/register_budget.hpp"
#include "tenon/gemm/store_unaligned.hpp"
#include "tenon/gemm/store_unaligned_transposed.hpp"
#include "tenon/ptx/griddepcontrol.hpp"
#include "tenon/ptx/setmaxnreg.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {

// Launch with `threads`, shared_bytes of dynamic shared memory and clusters of Config::cluster, at most as
// many as the device runs at once. map_a and map_b: 128-byte swizzle, boxes of box_rows_a() and box_rows_b x
// 64.
template <class Config>
struct GemmUnaligned : UnalignedTiles<Config> {
  using T = typename Config::T;
  using Block = typename Config::Block;
  using Tiles = UnalignedTiles<Config>;
  using Scheduler = UnalignedTileScheduler<Config>;
  using Producer = ProducerUnaligned<Config>;
  using Mainloop = MainloopUnaligned<Config>;
  using Ring = TmaRing<Config::stages>;
  static constexpr int producer_warp = Tiles::consumer_warps, store_warps = 3;
  static constexpr int threads = 32 * (Tiles::consumer_warps + 1 + store_warps);

  static constexpr Type fast = std::is_same_v<T, __half> ? Type::f16 : Type::bf16;
  template <class Op>
  using Store =
      std::conditional_t<Config::swap_ab, StoreUnaligned<Op, fast>, StoreUnalignedTransposed<Op, fast>>;
  using Reduction = HalvesReduction<Block::m, Store<LinearCombination>>;
  // The consumers pass staged rows of C to the store warps, one tile at a time.
  using StagedRows = TmaRing<1>;

  // Shared memory, from a multiple of 1024 bytes on: the ring, the staged rows of C, the barriers.
  static constexpr int alignment = 1024;
  static constexpr int staging_at = Config::stages * Tiles::stage_bytes;
  static_assert(Reduction::received_bytes <= staging_at,
                "GemmUnaligned: the ring must have room for half of the accumulators");
  static constexpr int barriers_at = staging_at + Store<LinearCombination>::bytes;
  static constexpr int shared_bytes =
      barriers_at + Ring::bytes + Reduction::bytes + StagedRows::bytes + alignment;
  static_assert(
      shared_bytes <= most_shared_bytes,
      "GemmUnaligned: ring and staged rows are larger than the shared memory of a CTA, 227 KB: take "
      "fewer stages");

  // Called once in a kernel by all threads of a one-dimensional CTA: the barriers in `shared` serve one call.
  // Uses the named barrier 1. op: see epilogue.hpp.
  template <class Op>
  __device__ __forceinline__ static void run(const RowInterleavedMaps& map_a, const RowInterleavedMaps& map_b,
                                             const UnalignedArguments& p, std::uint8_t* shared,
                                             const Op& op) {
    const int rank = static_cast<int>(blockIdx.x) % Config::cluster;
    const Scheduler scheduler(p, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    const std::uint32_t misaligned = ptx::shared_address(shared) % alignment;
    std::uint8_t* const memory = shared + (misaligned == 0 ? 0 : alignment - misaligned);
    const auto barriers = [&](int at) { return reinterpret_cast<std::uint64_t*>(memory + barriers_at + at); };
    const Ring ring(barriers(0));
    const Reduction reduction(ptx::shared_address(memory), barriers(Ring::bytes), rank);
    const StagedRows staged(barriers(Ring::bytes + Reduction::bytes));
    if (works_for_warp(producer_warp)) {
      for (int i = 0; i < 8; ++i) prefetch_map(map_b.view[i]);
    }
    if (works_for_warp(0)) {
      // This CTA's producer writes to both CTAs: the consumer warps of both release its stages.
      ring.initialize(Config::cluster * Tiles::consumer_warps);
      reduction.initialize();
      // Each thread arrives for itself: consumers after their writes, store warps after their reads.
      staged.initialize(32 * store_warps, 32 * Tiles::consumer_warps);
    }
    // Relaxed: initialize() has a fence for the barriers, and no other memory needs the order.
    cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_relaxed);
    cuda::ptx::barrier_cluster_wait();
    // The next grid's prologue overlaps this grid's tail.
    ptx::griddepcontrol_launch_dependents();
    // Each role waits for the previous grid at its first work tile. All threads wait here instead if the
    // operation reads memory, or if A is aligned. (A may then be a copy that the previous grid writes; an
    // overlap with that grid gained nothing in bursts and lost time in sustained runs.)
    using Loaded = LoadedOperation<Op>;
    if (p.before == Block::k || Loaded::reads_memory) ptx::griddepcontrol_wait();
    // Broadcast from lane 0, so that ptxas knows it to be uniform.
    const int warp = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0);
    const std::uint32_t base = ptx::shared_address(memory);
    const Store<typename Loaded::type> store(p.gemm.c, Loaded::of(op), base + staging_at);
    if (warp >= producer_warp) {
      ptx::setmaxnreg_dec_sync_aligned_u32<WideProducerRegisters::producer>();
      if (warp > producer_warp) {
        if (store.template leaves_last<Block::m>())
          store_last_rows(p, scheduler, staged, store, warp - producer_warp - 1);
      } else if (ptx::elect_sync(0xffffffffU)) {
        Producer::run(map_a, map_b, p, scheduler, rank, memory, ring);
      }
      // The other threads of this warp do not wait for the producer thread. If they did, ptxas would compute
      // the addresses of its loads in ordinary instead of uniform registers, and the producer would start
      // fewer loads than TMA can take.
    } else {
      ptx::setmaxnreg_inc_sync_aligned_u32<WideProducerRegisters::consumer>();
      consume_all(p, scheduler, rank, base, ring, reduction, staged, store);
    }
  }

 private:
  // Where a work tile's rows of C are, from the i-th on.
  __device__ __forceinline__ static RowsOfC rows_of(const UnalignedArguments& p,
                                                    const UnalignedWorkTile& work, int i) {
    return {(work.row + i) * p.rows_apart + work.view, p.rows_apart, work.column};
  }

  // Called by a store warp. warp: its number among the store warps. Stores the rows of each tile that the
  // consumers have staged and left. They leave none of the CTA's last tile, which no mainloop follows.
  template <class Store>
  __device__ __forceinline__ static void store_last_rows(const UnalignedArguments& p,
                                                         const Scheduler& scheduler, const StagedRows& staged,
                                                         const Store& store, int warp) {
    Stage<1> tile;
    for_each_work(scheduler, 0, 1, [&](int index) {
      const UnalignedWorkTile work = scheduler.at(index);
      if (work.is_last) return;
      if (work.is_first) ptx::griddepcontrol_wait();
      staged.wait_full(tile);
      store.template last_rows<Block::m>(rows_of(p, work, 0), warp, store_warps);
      staged.release(tile);
      tile = tile.next();
    });
  }

  // Called by all threads of both consumer warpgroups.
  template <class Store>
  __device__ __forceinline__ static void consume_all(const UnalignedArguments& p, const Scheduler& scheduler,
                                                     int rank, std::uint32_t memory, const Ring& ring,
                                                     const Reduction& reduction, const StagedRows& staged,
                                                     const Store& store) {
    typename Mainloop::Accumulators accumulators;
    Stage<Config::stages> stage;
    Stage<1> tile;  // of `staged`: advances with each tile whose last rows the store warps get
    for_each_work(scheduler, 0, 1, [&](int index) {
      const UnalignedWorkTile work = scheduler.at(index);
      typename Mainloop::Tile mainloop(p, work, memory, ring, stage, rank);
      mainloop.run(accumulators, p, work);
      accumulators.when_done([&](auto& values) {
        mainloop.release_last();
        staged.wait_empty(tile);  // the store warps have read the staged rows of the previous tile
        if (work.tail_split) {
          // A split tile is always the CTA's last one. Each CTA stores half of its rows; the store adds the
          // peer's accumulators part by part as they arrive.
          constexpr int half = Block::m / 2;
          auto reduced = reduction.exchange(values);
          store.template rows<half>(reduced, rows_of(p, work, rank * half), false,
                                    [&](int part) { reduced.receive(part); });
        } else {
          store.template rows<Block::m>(values, rows_of(p, work, 0), !work.is_last, [](int) {});
          if (!work.is_last && store.template leaves_last<Block::m>()) {
            staged.arrive(tile);
            tile = tile.next();
          }
        }
      });
    });
  }
};

// C = op(A * B). Launch it as plan_sm90_unaligned.hpp says. Op: see epilogue.hpp.
template <class Config, class Op>
__global__ void __launch_bounds__(GemmUnaligned<Config>::threads, 1) __cluster_dims__(Config::cluster, 1, 1)
    gemm_unaligned(const __grid_constant__ RowInterleavedMaps map_a,
                   const __grid_constant__ RowInterleavedMaps map_b,
                   const __grid_constant__ UnalignedArguments arguments, const __grid_constant__ Op op) {
  extern __shared__ std::uint8_t shared[];
  GemmUnaligned<Config>::run(map_a, map_b, arguments, shared, op);
}

}  // namespace tenon
