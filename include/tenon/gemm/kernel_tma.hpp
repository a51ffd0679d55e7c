// The GEMM of mma.sync with TMA (sm_90a): a producer warpgroup that only loads, consumer warps that only
// multiply, and a persistent grid in which the loads of the next tile run during the epilogue of this one.
//
// The producer warpgroup releases its registers (setmaxnreg); one of its threads fills the ring, tile after
// tile. The consumer warps wait on mbarriers, never on each other. So they need not run in step: while some
// store their part of C, others keep the tensor cores busy. Below: config.hpp, register_budget.hpp,
// store_registers.hpp, tile_scheduler.hpp, pipeline/tma_ring.hpp, ptx/setmaxnreg.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/config.hpp"
#include "tenon/gemm/register_budget.hpp"
#include "tenon/gemm/store_registers.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/needs_newer_clang.hpp"
#include "tenon/ptx/setmaxnreg.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {

// Config: GemmConfig with 8 warps and 2 stages or more. Launch with threads, shared_bytes of dynamic shared
// memory, at most one CTA on a multiprocessor. map_a and map_b: 16-bit elements, boxes of Tile::panel_columns
// x Tile::rows with the swizzle of Tile::row_bytes, 64 or 128.
template <class Config>
struct GemmTma {
  static_assert(Config::warps == 8,
                "GemmTma: two consumer warpgroups multiply, so the configuration must have 8 warps");
  static_assert(Config::stages >= 2,
                "GemmTma: a k-tile is loaded while another one is multiplied: 2 stages or more");
  static constexpr int threads = 32 * Config::warps + 128;
  static constexpr int ring_alignment = 1024;
  using Ring = TmaRing<Config::stages>;
  static constexpr int shared_bytes = Config::ring_bytes + Ring::bytes + ring_alignment;
  static_assert(shared_bytes <= most_shared_bytes,
                "GemmTma: the ring is larger than the shared memory of a CTA, 227 KB: take fewer stages");
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  static constexpr int depth = Config::Block::k;
  using Scheduler = TileScheduler<ClusterShape<1, 1>, false>;

  // Called once in a kernel by all threads of a one-dimensional CTA: the barriers in `shared` serve one
  // call. k >= 1. epilogue: see GemmCpAsync.
  template <class Epilogue>
  __device__ __forceinline__ static void run(const TensorMap& map_a, const TensorMap& map_b, int k,
                                             const Raster& raster, std::uint8_t* shared,
                                             const Epilogue& epilogue) {
    const std::uint32_t misaligned = ptx::shared_address(shared) % ring_alignment;
    std::uint8_t* const ring_memory = shared + (misaligned == 0 ? 0 : ring_alignment - misaligned);
    const Ring ring(reinterpret_cast<std::uint64_t*>(ring_memory + Config::ring_bytes));
    if (works_for_warp(0)) ring.initialize(Config::warps);
    __syncthreads();
    const Scheduler scheduler(raster, raster.tiles(), k / depth + (k % depth != 0),
                              static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (warp >= Config::warps) {
      ptx::setmaxnreg_dec_sync_aligned_u32<WideProducerRegisters::producer>();
      if (works_for_warp(Config::warps)) produce(map_a, map_b, scheduler, ring_memory, ring);
    } else {
      ptx::setmaxnreg_inc_sync_aligned_u32<WideProducerRegisters::consumer>();
      consume(warp, scheduler, ptx::shared_address(ring_memory), ring, epilogue);
    }
  }

 private:
  // One thread: every k-tile of every work tile of this CTA, as far ahead as the ring allows.
  __device__ __forceinline__ static void produce(const TensorMap& map_a, const TensorMap& map_b,
                                                 const Scheduler& scheduler, std::uint8_t* ring_memory,
                                                 const Ring& ring) {
    Stage<Config::stages> stage;
    for_each_work(scheduler, 0, 1, [&](int index) {
      const WorkTile work = scheduler.at(index);
      for (int k_tile = 0; k_tile < work.k_count; ++k_tile) {
        ring.wait_empty(stage);
        ring.expect(stage, Config::stage_bytes);
        std::uint8_t* const to = ring_memory + stage.index * Config::stage_bytes;
        load<TileA>(to, map_a, work.m * Config::Block::m, k_tile * depth, ring.full_barrier(stage));
        load<TileB>(to + TileA::bytes, map_b, work.n * Config::Block::n, k_tile * depth,
                    ring.full_barrier(stage));
        stage = stage.next();
      }
    });
  }

  // One box for each panel: `start` is the tile's first row (column) along m (n).
  template <class Tile>
  __device__ __forceinline__ static void load(std::uint8_t* to, const TensorMap& map, int start, int k,
                                              std::uint64_t* barrier) {
#pragma unroll
    for (int panel = 0; panel < Tile::panels; ++panel) {
      const int along = panel * Tile::panel_columns;
      copy_box(to + panel * Tile::panel_bytes, map, Tile::k_major ? start : k,
               Tile::k_major ? k + along : start + along, barrier);
    }
  }

  template <class Epilogue>
  __device__ __forceinline__ static void consume(int warp, const Scheduler& scheduler,
                                                 std::uint32_t ring_base, const Ring& ring,
                                                 const Epilogue& epilogue) {
    const int warp_row = warp % Config::warps_m * Config::Warp::m,
              warp_column = warp / Config::warps_m * Config::Warp::n;
    const typename Config::WalkA walk_a(warp_row);
    const typename Config::WalkB walk_b(warp_column);
    const bool releases = lane_id() == 0;
    // An mbarrier arrival can overtake an ldmatrix that waits behind other warps' stores. The producer would
    // then overwrite the stage before it is read. So the arrival depends on a register of the last load:
    // release() adds that register & zero to its address. `zero` is 0, but ptxas cannot know that.
    const std::uint32_t zero = static_cast<std::uint32_t>(scheduler.k_tiles()) >> 31;
    const auto stage_a = [=](Stage<Config::stages> stage) {
      return ring_base + stage.index * Config::stage_bytes;
    };
    const auto stage_b = [=](Stage<Config::stages> stage) { return stage_a(stage) + TileA::bytes; };
    typename Config::WarpAccumulator accumulators;
    Stage<Config::stages> stage;
    for_each_work(scheduler, 0, 1, [&](int index) {
      accumulators.clear();
      ring.wait_full(stage);
      accumulators.load_first(walk_a, walk_b, stage_a(stage), stage_b(stage));
      // Each turn multiplies the k-tile in `stage`, and loads the first fragments of the next one at its end.
#pragma unroll 1
      for (int k_tile = 1; k_tile < scheduler.k_tiles(); ++k_tile) {
        const Stage<Config::stages> next = stage.next();
        bool next_is_full = false;
        // The test of the next stage takes some twenty cycles, so it begins two k-steps before its result is
        // needed.
        const auto ask_early = [&](int step) {
          if (step == depth / 16 - 2) next_is_full = ring.is_full(next);
        };
        accumulators.template multiply_k_tile<depth, true>(walk_a, walk_b, stage_a(stage), stage_b(stage),
                                                           stage_a(next), stage_b(next), ask_early, [&] {
                                                             if (!next_is_full) ring.wait_full(next);
                                                           });
        __syncwarp();  // orders the loads of all lanes before the arrival of lane 0
        if (releases) ring.release(stage, static_cast<int>(accumulators.last_loaded() & zero));
        stage = next;
      }
      // The last k-tile: there is no next one to load from.
      accumulators.template multiply_k_tile<depth, false>(
          walk_a, walk_b, stage_a(stage), stage_b(stage), 0, 0, [](int) {}, [] {});
      __syncwarp();
      if (releases) ring.release(stage, static_cast<int>(accumulators.last_loaded() & zero));
      stage = stage.next();
      const WorkTile work = scheduler.at(index);
      epilogue(accumulators, work.m * Config::Block::m + warp_row, work.n * Config::Block::n + warp_column);
    });
  }
};

// C = op(A * B). Grid: one CTA for each multiprocessor, or raster.tiles() if fewer. Op: see epilogue.hpp.
template <class Config, class Op>
__global__ void __launch_bounds__(GemmTma<Config>::threads, 1)
    gemm_tma(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
             const __grid_constant__ GemmArguments arguments, const __grid_constant__ Op op) {
  extern __shared__ std::uint8_t shared[];
  using Loaded = LoadedOperation<Op>;
  const StoreRegisters<typename Loaded::type> store(arguments.c, Loaded::of(op));
  GemmTma<Config>::run(map_a, map_b, arguments.k, arguments.raster, shared, store);
}

}  // namespace tenon
