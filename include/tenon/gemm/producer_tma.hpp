// The producer of the wgmma kernels: one thread loads every k-tile of the CTA's work tiles by TMA into a ring
// of stages, as far ahead as the ring allows. CTAs of a cluster that share an operand load a part of it each
// and multicast it. Residue tiles are loaded in boxes of their own (operand_load.hpp).
//
// One thread of the producer warpgroup calls prefetch() and run(), its other warps call clear_residue(), and
// the consumers of the CTA's first tile wait for what was cleared. producer_tma_interleaved.hpp has the same
// interface. Below: arguments.hpp, operand_load.hpp, register_budget.hpp, tile_scheduler.hpp,
// pipeline/tma_ring.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/operand_load.hpp"
#include "tenon/gemm/register_budget.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/gemm/wgmma_config.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/barrier.hpp"

namespace tenon {

// The producer's loop, run by one thread. Loads: how much of a work tile's k-tile is loaded (bytes()), and
// the start of the loads (start()). memory: the ring's stages.
template <class Config, class Loads, class Scheduler, class MapA, class MapB>
__device__ __forceinline__ void produce(const MapA& map_a, const MapB& map_b, const GemmArguments& p,
                                        const Scheduler& scheduler, std::uint8_t* memory,
                                        const TmaRing<Config::stages>& ring) {
  using Budget = RegisterBudget<Config>;
  constexpr Stage<Config::stages> first_stage;
  Stage<Config::stages> stage = first_stage;
  for_each_work(scheduler, 0, 1, [&](int index) {
    const WorkTile work = scheduler.at(index);
    const Loads loads(scheduler.loaded(work), p);
    const int bytes = loads.bytes();
    if (!Budget::scarce && index == scheduler.first()) cudaGridDependencySynchronize();
    for (int k_tile = work.k_begin; k_tile < work.k_begin + work.k_count; ++k_tile) {
      ring.wait_empty(stage);
      ring.expect(stage, bytes);
      loads.start(memory + stage.index * Config::stage_bytes, map_a, map_b, k_tile, ring.full_barrier(stage));
      stage = stage.next();
      // All CTAs start at once, and the L2 serves requests in their order. Without this wait, the later
      // k-tiles of the first CTAs would arrive before the first k-tiles of the last CTAs, which the kernel
      // ends with.
      if (Budget::large && index == scheduler.first() && k_tile == work.k_begin + 1)
        ring.wait_full(first_stage);
    }
  });
  if constexpr (Config::Cluster::sharing > 1) ring.drain(stage);
}

// Starts the load of part `part` of the `parts` parts of a k-tile, to the same place in every CTA of the
// cluster whose bit is set in `mask`. Its bytes count on the barrier of each of these CTAs. start: the tile's
// first row (column) along m (n); k: the k-tile's first; extent_left: see OperandLoad. Maps: OperandMap, or
// OperandMaps.
template <class Tile, int parts, class Maps>
__device__ __forceinline__ void load_part(std::uint8_t* to, const Maps& maps, int start, int extent_left,
                                          int k, int part, std::uint16_t mask, std::uint64_t* barrier) {
  using Load = OperandLoad<Tile, parts>;
  const int rows = Load::rows_of(extent_left);
  if (rows == 0) return;
  const TensorMap* map = &maps.whole;
  if constexpr (std::is_same_v<Maps, OperandMaps>) map = rows == Load::rows ? &maps.whole : &maps.residue;
  const int first_panel = Load::by_panels ? part * Load::panels : 0;
  const int first_row = Load::by_panels ? 0 : part * rows;
  // Not unrolled: one thread loads, with few registers, and has the time.
#pragma unroll 1
  for (int i = 0; i < Load::panels; ++i) {
    const int panel = first_panel + i;
    const int offset = panel * Tile::panel_bytes + first_row * Tile::row_bytes;
    // Rows run along m or n where k is contiguous, else along k.
    const int row = first_row + (Tile::k_major ? start : k);
    const int column = panel * Tile::panel_columns + (Tile::k_major ? k : start);
    if constexpr (parts == 1) {
      copy_box(to + offset, *map, row, column, barrier);
    } else {
      copy_box_to_cluster(to + offset, *map, row, column, barrier, mask);
    }
  }
}

// The loads of a work tile's k-tiles. residue: whether residue tiles are loaded in boxes of their own.
// Without residue tiles the first load does not wait for the arithmetic of their boxes. Config: as
// ProducerTma.
template <class Config, bool residue>
class OperandLoads {
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  // CTAs that share rows of A lie along n, CTAs that share columns of B along m.
  static constexpr int parts_a = Cluster::n, parts_b = Cluster::m;

 public:
  using LoadA = OperandLoad<TileA, parts_a>;
  using LoadB = OperandLoad<TileB, parts_b>;
  // 128-byte swizzle, boxes of LoadA::rows (LoadB::rows) x Tile::panel_columns; the boxes of residue tiles
  // have rows_of() rows.
  using Map = std::conditional_t<RegisterBudget<Config>::loads_residue, OperandMaps, OperandMap>;

  __device__ __forceinline__ OperandLoads(const WorkTile& work, const GemmArguments& p)
      : row_(work.m * Block::m),
        column_(work.n * Block::n),
        left_a_(residue ? left_of_a(work, p) : load_whole_tiles),
        left_b_(residue ? left_of_b(work, p) : load_whole_tiles),
        tail_split_(work.tail_split) {}

  // Rows of A and columns of B from a tile's first one on.
  __device__ __forceinline__ static int left_of_a(const WorkTile& work, const GemmArguments& p) {
    return p.residue_m - work.m * Block::m;
  }
  __device__ __forceinline__ static int left_of_b(const WorkTile& work, const GemmArguments& p) {
    return p.residue_n - work.n * Block::n;
  }

  // Bytes of a k-tile of both operands, from all CTAs that share them.
  __device__ __forceinline__ int bytes() const { return LoadA::bytes_of(left_a_) + LoadB::bytes_of(left_b_); }
  __device__ __forceinline__ void start(std::uint8_t* to, const Map& map_a, const Map& map_b, int k_tile,
                                        std::uint64_t* barrier) const {
    const int rank = Cluster::rank(static_cast<int>(blockIdx.x)), k = k_tile * Block::k;
    load<TileA, parts_a>(to, map_a, row_, left_a_, k, Cluster::rank_n(rank), Cluster::mask_a(rank), barrier);
    load<TileB, parts_b>(to + TileA::bytes, map_b, column_, left_b_, k, Cluster::rank_m(rank),
                         Cluster::mask_b(rank), barrier);
  }

  __device__ __forceinline__ static void prefetch(const Map& map) {
    prefetch_map(map.whole);
    // A test whether the residue map is needed would take longer than its prefetch.
    if constexpr (RegisterBudget<Config>::loads_residue) prefetch_map(map.residue);
  }

 private:
  // Loads this CTA's part for all CTAs that share it. A tile split along k is not shared: loads all parts.
  template <class Tile, int parts>
  __device__ __forceinline__ void load(std::uint8_t* to, const Map& maps, int start, int left, int k,
                                       int part, std::uint16_t mask, std::uint64_t* barrier) const {
    if constexpr (Config::splits_tail && parts > 1) {
      if (tail_split_) {
        const auto alone = static_cast<std::uint16_t>(1U << Cluster::rank(static_cast<int>(blockIdx.x)));
#pragma unroll 1
        for (int i = 0; i < parts; ++i) load_part<Tile, parts>(to, maps, start, left, k, i, alone, barrier);
        return;
      }
    }
    load_part<Tile, parts>(to, maps, start, left, k, part, mask, barrier);
  }

  int row_, column_, left_a_, left_b_;
  bool tail_split_;
};

// Config: WgmmaConfig, Pingpong or SwapAB of one. Loads_: what a k-tile is, OperandLoads or a type with its
// members (producer_tma_block_scaled.hpp).
template <class Config, template <class, bool> class Loads_ = OperandLoads>
class ProducerTma {
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  using Budget = RegisterBudget<Config>;
  template <bool residue>
  using Loads = Loads_<Config, residue>;

 public:
  using LoadA = typename Loads<false>::LoadA;
  using LoadB = typename Loads<false>::LoadB;
  using MapA = typename Loads<false>::Map;
  using MapB = MapA;
  using Ring = TmaRing<Config::stages>;

  TENON_HOST_DEVICE static constexpr int k_tiles(int k) {
    return k / Config::Block::k + (k % Config::Block::k != 0);
  }

  template <class Scheduler>
  __device__ __forceinline__ static void prefetch(const MapA& map_a, const MapB& map_b,
                                                  const Scheduler& scheduler) {
    Loads<false>::prefetch(map_a);
    Loads<false>::prefetch(map_b);
    // A batch of small products is over before the memory is busy: its first tile is fetched into the L2
    // while the grid before still runs.
    if constexpr (Config::fetches_ahead) {
      const WorkTile work = scheduler.loaded(scheduler.at(scheduler.first()));
      for (int k_tile = 0; k_tile < work.k_count; ++k_tile) {
        prefetch_box(map_a.whole, work.m * Config::Block::m, k_tile * Config::Block::k);
        prefetch_box(map_b.whole, work.n * Config::Block::n, k_tile * Config::Block::k);
      }
    }
  }

  template <class Scheduler>
  __device__ __forceinline__ static void run(const MapA& map_a, const MapB& map_b, const GemmArguments& p,
                                             const Scheduler& scheduler, std::uint8_t* memory,
                                             const Ring& ring) {
    if (Budget::one_load_loop || has_residue(p)) {
      produce<Config, Loads<Budget::loads_residue>>(map_a, map_b, p, scheduler, memory, ring);
    } else {
      produce<Config, Loads<false>>(map_a, map_b, p, scheduler, memory, ring);
    }
  }

  // Clears the part of each stage that the loads of the CTA's first tile do not write. (What a later tile
  // does not write holds operands of an earlier one.) Called by the producer warpgroup; its first warp, with
  // `thread` < 0, does nothing, and `thread` counts the threads of the others.
  template <class Scheduler>
  __device__ __forceinline__ static void clear_residue(const GemmArguments& p, const Scheduler& scheduler,
                                                       std::uint8_t* memory, int thread) {
    if (!has_residue(p) || thread < 0) return;
    const WorkTile work = scheduler.at(scheduler.first());
    clear_stages(memory, LoadA::bytes_of(Loads<true>::left_of_a(work, p)), TileA::bytes, thread);
    clear_stages(memory + TileA::bytes, LoadB::bytes_of(Loads<true>::left_of_b(work, p)), TileB::bytes,
                 thread);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    synchronise_cleared();
  }
  static constexpr int clearing_threads = 96;
  // By the consumers of the CTA's first tile, before they read a stage.
  __device__ __forceinline__ static void wait_for_cleared_residue(const GemmArguments& p) {
    if (has_residue(p)) synchronise_cleared();
  }

 private:
  // Whether some residue tile is loaded in boxes of its own.
  __device__ __forceinline__ static bool has_residue(const GemmArguments& p) {
    return Budget::loads_residue && min(p.residue_m, p.residue_n) < load_whole_tiles;
  }

  // Clears the bytes [from, to) of an operand's part of each stage.
  __device__ __forceinline__ static void clear_stages(std::uint8_t* operand, int from, int to, int thread) {
#pragma unroll 1
    for (int at = from + 16 * thread; at < to; at += 16 * clearing_threads) {
#pragma unroll
      for (int stage = 0; stage < Config::stages; ++stage)
        *reinterpret_cast<uint4*>(operand + stage * Config::stage_bytes + at) = make_uint4(0, 0, 0, 0);
    }
  }
  __device__ __forceinline__ static void synchronise_cleared() {
    constexpr int consumers_of_a_tile = Config::pingpong ? 1 : Config::consumers;
    ptx::bar_sync<clearing_threads + 128 * consumers_of_a_tile>(NamedBarrier::residue);
  }
};

}  // namespace tenon
