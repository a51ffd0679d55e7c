// The producers of the wgmma kernels: two threads, one for A and one for B, load every k-tile of the CTA's
// work tiles by TMA into a ring of stages, as far ahead as the ring allows. One thread for
// both would load small tiles more slowly than they are multiplied (microbench/HISTORY.md). CTAs of a cluster
// that share an operand load a part of it each and multicast it. Residue tiles are loaded in boxes of their
// own (operand_load.hpp).
//
// Each of the two threads has a warp of the producer warpgroup, which calls run().
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
#include "tenon/ptx/elect.hpp"
#include "tenon/ptx/griddepcontrol.hpp"
#include "tenon/warp/operand_cursor.hpp"

namespace tenon {

// A producer's loop. A whole warp calls it, and one of its threads loads. Loads: what it loads of a work
// tile's k-tile (bytes()), and the start of the loads (start()). memory: the ring's stages. synchronise(): by
// whole warps; afterwards the ring's barriers are initialised. The first tile's place is computed before,
// while another warp initialises them.
template <class Config, class Loads, class Scheduler, class Map, class Synchronise>
__device__ __forceinline__ void produce(const Map& map, const GemmArguments& p, const Scheduler& scheduler,
                                        std::uint8_t* memory, const TmaRing<Config::stages>& ring,
                                        const Synchronise& synchronise) {
  using Budget = RegisterBudget<Config>;
  constexpr Stage<Config::stages> first_stage;
  Stage<Config::stages> stage = first_stage;
  int index = scheduler.first();
  const int end = scheduler.end(), step = scheduler.step();
  WorkTile work = scheduler.at(index);
  Loads loads(scheduler.loaded(work), p);
  synchronise();
  if (ptx::elect_sync(0xffffffffU)) {
    if (!Budget::scarce) ptx::griddepcontrol_wait();
    while (index < end) {
      const int bytes = loads.bytes();
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
      index += step;
      work = scheduler.at(index);
      loads = Loads(scheduler.loaded(work), p);
    }
    if constexpr (Config::Cluster::may_share) ring.drain(stage);
  }
  // The other lanes wait. If they left, ptxas would keep all that the producer computes in uniform registers,
  // which takes longer from one tile to the next (microbench/HISTORY.md).
  __syncwarp();
}

// A part of an operand's k-tile, and the CTAs that it is loaded for.
struct LoadedPart {
  int parts, part;     // of OperandLoad
  std::uint16_t mask;  // of the CTAs, one bit a rank; not read if there is one part
};

// The loads of a part of an operand's k-tiles, to the same place in every CTA of the mask. What is the same
// for all k-tiles is computed once.
template <class Tile>
class PartOfTile {
 public:
  // start: the tile's first row (column) along m (n); extent_left, extent: of OperandLoad.
  __device__ __forceinline__ PartOfTile(const LoadedPart& which, int start, int extent_left,
                                        int extent = Tile::rows) {
    const OperandLoad<Tile> load(which.parts, extent);
    const int first_panel = load.first_panel(which.part);
    multicasts_ = which.parts > 1;
    mask_ = which.mask;
    rows_ = load.rows_of(extent_left);
    is_whole_ = rows_ == load.rows();
    boxes_ = load.boxes();
    const int first_row = Tile::k_major ? which.part * rows_ : load.first_row(which.part);
    offset_ = first_panel * Tile::panel_bytes + first_row * Tile::row_bytes;
    // Rows run along m or n where k is contiguous, else along k.
    row_ = first_row + (Tile::k_major ? start : 0);
    column_ = first_panel * Tile::panel_columns + (Tile::k_major ? 0 : start);
  }

  // Starts the loads of a k-tile whose first k is given. Their bytes count on the barrier of each of these
  // CTAs. tile: of the operand in a stage; maps: OperandMap, or OperandMaps.
  template <class Maps>
  __device__ __forceinline__ void start(std::uint8_t* tile, const Maps& maps, int k,
                                        std::uint64_t* barrier) const {
    if (rows_ == 0) return;
    const TensorMap* map = &maps.whole;
    if constexpr (std::is_same_v<Maps, OperandMaps>) map = is_whole_ ? &maps.whole : &maps.residue;
    std::uint8_t* to = tile + offset_;
    const int row = row_ + (Tile::k_major ? 0 : k);
    int column = column_ + (Tile::k_major ? k : 0);
    // Not unrolled: one thread loads, with few registers, and has the time.
#pragma unroll 1
    for (int i = 0; i < (Tile::k_major ? 1 : boxes_); ++i) {
      // A multicast to one CTA would do the same, but takes up to twice as long.
      if (multicasts_) {
        copy_box_to_cluster(to, *map, row, column, barrier, mask_);
      } else {
        copy_box(to, *map, row, column, barrier);
      }
      to += Tile::panel_bytes;
      column += Tile::panel_columns;
    }
  }

 private:
  bool multicasts_, is_whole_;
  std::uint16_t mask_;
  int rows_, boxes_, offset_, row_, column_;
};

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
        tail_split_(work.tail_split),
        cluster_(Cluster::of(p.cluster)),
        rank_(cluster_.rank(static_cast<int>(blockIdx.x))),
        extent_(is_fitted ? p.tile_columns : Tile::rows),
        part_(own_part(), start_, left_, extent()),
        bytes_(load(cluster_, extent()).bytes_of(left_)) {
    if constexpr (Cluster::is_compiled)
      static_assert(Load::can_share(parts(Cluster{})),
                    "OperandLoads: a CTA's part of a k-tile must be a multiple of 8 rows");
  }

  // Bytes of a k-tile of the operand, from all CTAs that share it.
  __device__ __forceinline__ int bytes() const { return bytes_; }
  // stage: of the ring.
  __device__ __forceinline__ void start(std::uint8_t* stage, const Map& map, int k_tile,
                                        std::uint64_t* barrier) const {
    std::uint8_t* const to = stage + (is_a ? 0 : Config::TileA::bytes);
    // A tile split along k is not shared: loads all parts.
    if constexpr (Config::splits_tail) {
      if (parts(cluster_) > 1 && tail_split_) {
        const auto alone = static_cast<std::uint16_t>(1U << rank_);
#pragma unroll 1
        for (int i = 0; i < parts(cluster_); ++i)
          PartOfTile<Tile>({parts(cluster_), i, alone}, start_, left_, extent())
              .start(to, map, k_tile * Block::k, barrier);
        return;
      }
    }
    part_.start(to, map, k_tile * Block::k, barrier);
  }

  __device__ __forceinline__ static void prefetch(const Map& map) {
    prefetch_map(map.whole);
    // A test whether the residue map is needed would take longer than its prefetch.
    if constexpr (RegisterBudget<Config>::loads_residue) prefetch_map(map.residue);
  }

 private:
  // Rows of A (columns of B) from a tile's first one on.
  __device__ __forceinline__ static int left_of(const WorkTile& work, const GemmArguments& p) {
    return (is_a ? p.residue_m : p.residue_n) - start_of(work, p);
  }
  __device__ __forceinline__ static int start_of(const WorkTile& work, const GemmArguments& p) {
    return is_a ? work.m * Block::m : work.n * tile_columns<Config>(p);
  }
  // Rows of the tile in shared memory that are used.
  __device__ __forceinline__ constexpr int extent() const {
    return is_fitted ? extent_ : Tile::rows;
  }
  __device__ __forceinline__ LoadedPart own_part() const {
    return {parts(cluster_), is_a ? cluster_.rank_n(rank_) : cluster_.rank_m(rank_),
            is_a ? cluster_.mask_a(rank_) : cluster_.mask_b(rank_)};
  }

  int start_, left_;
  bool tail_split_;
  Cluster cluster_;
  int rank_, extent_;
  PartOfTile<Tile> part_;
  int bytes_;
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

  // By a whole warp. operand: what it loads; map: of it; synchronise(): see produce().
  template <Operand operand, class Scheduler, class Map, class Synchronise>
  __device__ __forceinline__ static void run(const Map& map, const GemmArguments& p,
                                             const Scheduler& scheduler, std::uint8_t* memory,
                                             const Ring& ring, const Synchronise& synchronise) {
    if (ptx::elect_sync(0xffffffffU)) prefetch<operand>(map, scheduler);
    if (Budget::one_load_loop || has_residue(p)) {
      produce<Config, Loads<operand, Budget::loads_residue>>(map, p, scheduler, memory, ring, synchronise);
    } else {
      produce<Config, Loads<operand>>(map, p, scheduler, memory, ring, synchronise);
    }
  }

 private:
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

  // Whether some residue tile is loaded in boxes of its own.
  __device__ __forceinline__ static bool has_residue(const GemmArguments& p) {
    return Budget::loads_residue && min(p.residue_m, p.residue_n) < load_whole_tiles;
  }
};

}  // namespace tenon
