// The producers of the wgmma kernels: two threads, one for A and one for B, load every k-tile of the CTA's
// work tiles by TMA into a ring of stages, as far ahead as the ring allows. One thread for
// both would load small tiles more slowly than they are multiplied (microbench/HISTORY.md). CTAs of a cluster
// that share an operand load a part of it each and multicast it. Residue tiles are loaded in boxes of their
// own (operand_load.hpp).
//
// The two threads, in warps of their own of the producer warpgroup, call prefetch() and run(), its other
// warps call clear_residue(), and the consumers of the CTA's first tile wait for what was cleared.
// producer_tma_interleaved.hpp has the same interface. Below: arguments.hpp, operand_load.hpp,
// register_budget.hpp, tile_scheduler.hpp, pipeline/tma_ring.hpp, warp/operand_cursor.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/fitted_tile.hpp"
#include "tenon/gemm/operand_load.hpp"
#include "tenon/gemm/register_budget.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/gemm/wgmma_config.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/barrier.hpp"
#include "tenon/ptx/griddepcontrol.hpp"
#include "tenon/warp/operand_cursor.hpp"

namespace tenon {

// A producer's loop, run by one thread. Loads: what it loads of a work tile's k-tile (bytes()), and the start
// of the loads (start()). memory: the ring's stages.
template <class Config, class Loads, class Scheduler, class Map>
__device__ __forceinline__ void produce(const Map& map, const GemmArguments& p, const Scheduler& scheduler,
                                        std::uint8_t* memory, const TmaRing<Config::stages>& ring) {
  using Budget = RegisterBudget<Config>;
  constexpr Stage<Config::stages> first_stage;
  Stage<Config::stages> stage = first_stage;
  for_each_work(scheduler, 0, 1, [&](int index) {
    const WorkTile work = scheduler.at(index);
    const Loads loads(scheduler.loaded(work), p);
    const int bytes = loads.bytes();
    if (!Budget::scarce && index == scheduler.first()) ptx::griddepcontrol_wait();
    for (int k_tile = work.k_begin; k_tile < work.k_begin + work.k_count; ++k_tile) {
      ring.wait_empty(stage);
      ring.expect(stage, bytes);
      loads.start(memory + stage.index * Config::stage_bytes, map, k_tile, ring.full_barrier(stage));
      stage = stage.next();
      // All CTAs start at once, and the L2 serves requests in their order. Without this wait, the later
      // k-tiles of the first CTAs would arrive before the first k-tiles of the last CTAs, which the kernel
      // ends with.
      if (Budget::large && index == scheduler.first() && k_tile == work.k_begin + 1)
        ring.wait_full(first_stage);
    }
  });
  if constexpr (Config::Cluster::may_share) ring.drain(stage);
}

// A part of an operand's k-tile, and the CTAs that it is loaded for.
struct LoadedPart {
  int parts, part;     // of OperandLoad
  std::uint16_t mask;  // of the CTAs, one bit a rank; not read if there is one part
};

// Starts the load of a part of a k-tile, to the same place in every CTA of the mask. Its bytes count on the
// barrier of each of these CTAs. start: the tile's first row (column) along m (n); k: the k-tile's first;
// extent_left: see OperandLoad. Maps: OperandMap, or OperandMaps.
// extent: of OperandLoad.
template <class Tile, class Maps>
__device__ __forceinline__ void load_part(std::uint8_t* to, const Maps& maps, int start, int extent_left,
                                          int k, const LoadedPart& which, std::uint64_t* barrier,
                                          int extent = Tile::rows) {
  const OperandLoad<Tile> load(which.parts, extent);
  const int rows = load.rows_of(extent_left);
  if (rows == 0) return;
  const TensorMap* map = &maps.whole;
  if constexpr (std::is_same_v<Maps, OperandMaps>) map = rows == load.rows() ? &maps.whole : &maps.residue;
  const int first_panel = load.first_panel(which.part);
  const int first_row = Tile::k_major ? which.part * rows : load.first_row(which.part);
  // Not unrolled: one thread loads, with few registers, and has the time.
#pragma unroll 1
  for (int i = 0; i < load.boxes(); ++i) {
    const int panel = first_panel + i;
    const int offset = panel * Tile::panel_bytes + first_row * Tile::row_bytes;
    // Rows run along m or n where k is contiguous, else along k.
    const int row = first_row + (Tile::k_major ? start : k);
    const int column = panel * Tile::panel_columns + (Tile::k_major ? k : start);
    // A multicast to one CTA would do the same, but takes up to twice as long.
    if (which.parts == 1) {
      copy_box(to + offset, *map, row, column, barrier);
    } else {
      copy_box_to_cluster(to + offset, *map, row, column, barrier, which.mask);
    }
  }
}

// The loads of an operand's k-tiles of a work tile. residue: whether residue tiles are loaded in boxes of
// their own. Without residue tiles the first load does not wait for the arithmetic of their boxes. Config: as
// ProducerTma.
template <class Config, Operand operand, bool residue>
class OperandLoads {
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  static constexpr bool is_a = operand == Operand::a;
  static constexpr bool is_fitted = !is_a && Config::narrowest < Block::n;

 public:
  using Tile = std::conditional_t<is_a, typename Config::TileA, typename Config::TileB>;
  using Load = OperandLoad<Tile>;
  // CTAs that share rows of A lie along n, CTAs that share columns of B along m.
  TENON_HOST_DEVICE static constexpr int parts(const Cluster& cluster) {
    return is_a ? cluster.n : cluster.m;
  }
  // columns: of a Fitted tile.
  TENON_HOST_DEVICE static constexpr Load load(const Cluster& cluster, int columns) {
    return is_fitted ? Load(parts(cluster), columns) : Load(parts(cluster));
  }
  // 128-byte swizzle, boxes of rows() x Tile::panel_columns of load(); the boxes of residue tiles have
  // rows_of() rows.
  using Map = std::conditional_t<RegisterBudget<Config>::loads_residue, OperandMaps, OperandMap>;

  __device__ __forceinline__ OperandLoads(const WorkTile& work, const GemmArguments& p)
      : start_(start_of(work, p)),
        left_(residue ? left_of(work, p) : load_whole_tiles),
        extent_(is_fitted ? p.tile_columns : Tile::rows),
        tail_split_(work.tail_split),
        cluster_(Cluster::of(p.cluster)) {
    if constexpr (Cluster::is_compiled)
      static_assert(Load::can_share(parts(Cluster{})),
                    "OperandLoads: a CTA's part of a k-tile must be a multiple of 8 rows");
  }

  // Rows of A (columns of B) from a tile's first one on.
  __device__ __forceinline__ static int left_of(const WorkTile& work, const GemmArguments& p) {
    return (is_a ? p.residue_m : p.residue_n) - start_of(work, p);
  }

  // Bytes of a k-tile of the operand, from all CTAs that share it.
  __device__ __forceinline__ int bytes() const { return load(cluster_, extent()).bytes_of(left_); }
  // stage: of the ring.
  __device__ __forceinline__ void start(std::uint8_t* stage, const Map& map, int k_tile,
                                        std::uint64_t* barrier) const {
    std::uint8_t* const to = stage + (is_a ? 0 : Config::TileA::bytes);
    const int rank = cluster_.rank(static_cast<int>(blockIdx.x)), k = k_tile * Block::k;
    // A tile split along k is not shared: loads all parts.
    if constexpr (Config::splits_tail) {
      if (parts(cluster_) > 1 && tail_split_) {
        const auto alone = static_cast<std::uint16_t>(1U << rank);
#pragma unroll 1
        for (int i = 0; i < parts(cluster_); ++i)
          load_part<Tile>(to, map, start_, left_, k, {parts(cluster_), i, alone}, barrier);
        return;
      }
    }
    const LoadedPart part{parts(cluster_), is_a ? cluster_.rank_n(rank) : cluster_.rank_m(rank),
                          is_a ? cluster_.mask_a(rank) : cluster_.mask_b(rank)};
    load_part<Tile>(to, map, start_, left_, k, part, barrier, extent());
  }

  __device__ __forceinline__ static void prefetch(const Map& map) {
    prefetch_map(map.whole);
    // A test whether the residue map is needed would take longer than its prefetch.
    if constexpr (RegisterBudget<Config>::loads_residue) prefetch_map(map.residue);
  }

 private:
  __device__ __forceinline__ static int start_of(const WorkTile& work, const GemmArguments& p) {
    return is_a ? work.m * Block::m : work.n * tile_columns<Config>(p);
  }
  // Rows of the tile in shared memory that are used.
  __device__ __forceinline__ constexpr int extent() const {
    return is_fitted ? extent_ : Tile::rows;
  }

  int start_, left_, extent_;
  bool tail_split_;
  Cluster cluster_;
};

// Config: WgmmaConfig, Pingpong or SwapAB of one. Loads_: what an operand's k-tile is, OperandLoads or a type
// with its members (producer_tma_block_scaled.hpp).
template <class Config, template <class, Operand, bool> class Loads_ = OperandLoads>
class ProducerTma {
  using Budget = RegisterBudget<Config>;
  template <Operand operand, bool residue = false>
  using Loads = Loads_<Config, operand, residue>;

 public:
  using Cluster = typename Config::Cluster;
  // How an operand is loaded by clusters of that shape. columns: of a Fitted tile.
  TENON_HOST_DEVICE static constexpr auto load_a(const Cluster& cluster) {
    return Loads<Operand::a>::load(cluster, 0);
  }
  TENON_HOST_DEVICE static constexpr auto load_b(const Cluster& cluster, int columns = 0) {
    return Loads<Operand::b>::load(cluster, columns);
  }
  using MapA = typename Loads<Operand::a>::Map;
  using MapB = typename Loads<Operand::b>::Map;
  using Ring = TmaRing<Config::stages>;

  TENON_HOST_DEVICE static constexpr int k_tiles(int k) {
    return static_cast<int>((static_cast<std::uint32_t>(k) + Config::Block::k - 1) / Config::Block::k);
  }

  // operand: what the calling thread loads; map: of it.
  template <Operand operand, class Scheduler, class Map>
  __device__ __forceinline__ static void prefetch(const Map& map, const Scheduler& scheduler) {
    Loads<operand>::prefetch(map);
    // A batch of small products is over before the memory is busy: its first tile is fetched into the L2
    // while the grid before still runs.
    if constexpr (Config::fetches_ahead) {
      const WorkTile work = scheduler.loaded(scheduler.at(scheduler.first()));
      const int row = operand == Operand::a ? work.m * Config::Block::m : work.n * Config::Block::n;
      for (int k_tile = 0; k_tile < work.k_count; ++k_tile)
        prefetch_box(map.whole, row, k_tile * Config::Block::k);
    }
  }

  template <Operand operand, class Scheduler, class Map>
  __device__ __forceinline__ static void run(const Map& map, const GemmArguments& p,
                                             const Scheduler& scheduler, std::uint8_t* memory,
                                             const Ring& ring) {
    if (Budget::one_load_loop || has_residue(p)) {
      produce<Config, Loads<operand, Budget::loads_residue>>(map, p, scheduler, memory, ring);
    } else {
      produce<Config, Loads<operand>>(map, p, scheduler, memory, ring);
    }
  }

  // Clears the part of each stage that the loads of the CTA's first tile do not write. (What a later tile
  // does not write holds operands of an earlier one.) Called by the producer warpgroup; its first two warps,
  // with `thread` < 0, do nothing, and `thread` counts the threads of the others.
  template <class Scheduler>
  __device__ __forceinline__ static void clear_residue(const GemmArguments& p, const Scheduler& scheduler,
                                                       std::uint8_t* memory, int thread) {
    if (!has_residue(p) || thread < 0) return;
    const WorkTile work = scheduler.at(scheduler.first());
    const auto cluster = Cluster::of(p.cluster);
    const auto a = load_a(cluster);
    const auto b = load_b(cluster, p.tile_columns);
    clear_stages(memory, a.bytes_of(Loads<Operand::a, true>::left_of(work, p)), a.bytes_of(load_whole_tiles),
                 thread);
    clear_stages(memory + Config::TileA::bytes, b.bytes_of(Loads<Operand::b, true>::left_of(work, p)),
                 b.bytes_of(load_whole_tiles), thread);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncwarp();  // lanes have diverged, and bar.sync needs whole warps (PTX ISA, barrier)
    synchronise_cleared();
  }
  static constexpr int clearing_threads = 64;
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
