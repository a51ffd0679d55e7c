// The GEMM of sm_90a's own matrix instruction: warpgroups multiply straight from shared memory (wgmma), one
// more copies (TMA), and the blocks of a cluster share what they both need (multicast).
//
// No operand passes through registers: a consumer warpgroup holds its part of the sums and tells the tensor
// core where the slabs stand. One group of wgmma is always in flight, so a slab is released when the
// instructions on the next one have been issued. The grid is persistent: copies for the next tile run during
// the epilogue of this one, whose stores are the copy engine's as well (StoreStaged). The warpgroups compute
// a part of each tile, or (Pingpong) the tiles by turns, so that the products of the next one do too. Where
// tiles are few the blocks of a cluster divide the k of one tile instead and add up (ClusterSum); so do they
// with the last tiles of a large product, if those would keep less than half of the device busy (PairSum).
// Tiles whose rows are no 64, 128 or 256 are those of the transpose of C (Turned). A launch may overlap the
// end of the kernel before it. Below: wgmma_config.hpp, cluster_sum.hpp, pair_sum.hpp, drop_elements.hpp,
// store_tma.hpp, store_tma_turned.hpp, tile_copy.hpp, pipeline/tma_ring.hpp, pipeline/turns.hpp,
// ptx/setmaxnreg.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/cluster_sum.hpp"
#include "tenon/gemm/drop_elements.hpp"
#include "tenon/gemm/pair_sum.hpp"
#include "tenon/gemm/store_tma.hpp"
#include "tenon/gemm/store_tma_turned.hpp"
#include "tenon/gemm/tile_copy.hpp"
#include "tenon/gemm/wgmma_config.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/pipeline/turns.hpp"
#include "tenon/ptx/setmaxnreg.hpp"
#include "tenon/ptx/shared_address.hpp"

// Clusters are said in the kernel's declaration, which no assertion can stand before.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#error \
    "tenon/gemm/gemm_wgmma.hpp needs sm_90a: compile what includes it with -gencode arch=compute_90a,code=sm_90a alone"
#endif

namespace tenon {

// Config: WgmmaConfig, or Pingpong of one. Launch with `threads`, shared_bytes of dynamic shared memory and
// clusters of Config::Cluster, at most as many as the device runs at once. map_a and map_b: 128-byte swizzle,
// boxes of so many lines as CopyA and CopyB say, Tile::panel_columns wide.
template <class Config>
struct GemmWgmma {
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  using Ring = TmaRing<Config::stages>;
  static constexpr int threads = 32 * Config::warps + 128;
  static constexpr int depth = Block::k;
  static constexpr bool eighths = Config::eighths;
  // The blocks that share a tile copy as many parts of it.
  static constexpr int parts_a = Cluster::n, parts_b = Cluster::m;
  using CopyA = TileCopy<TileA, parts_a>;
  using CopyB = TileCopy<TileB, parts_b>;

  // What the sums of several blocks are added up in: those in f16 as float.
  using Value = typename Packing<typename Config::Acc>::Value;
  // Without blocks along k there is nothing to add up, and no memory for it.
  using Sum = ClusterSum<Value, Cluster::k, Cluster::m * Cluster::n, Config::warps, Block::n>;
  static constexpr bool divides_k = Cluster::k > 1;
  static constexpr int sharing_blocks = Cluster::m * Cluster::n;  // of one part of k

  // Whether the last tiles, too few for all blocks, can be computed by two blocks each (work_at).
  // Of the largest tiles alone: a last round that few of them fill is the longest.
  static constexpr bool has_pairs =
      Cluster::blocks == 2 && !divides_k && Config::Warp::m > 64 && !Config::pingpong;
  using Pair = PairSum<Value, Block::n>;
  static constexpr int parts_of_group = Config::Warp::m / 64;
  static_assert(!has_pairs || (Config::consumers == 2 && parts_of_group * Pair::bytes <= Config::ring_bytes),
                "GemmWgmma: the ring must hold the sums of a warpgroup");

  // Ping-pong: the warpgroups that multiply take the block's tiles by turns, and each reads the slabs of its
  // own alone; else all read every slab.
  static constexpr int turns = Config::pingpong ? Config::consumers : 1;
  static constexpr int warps_of_a_tile = Config::warps / turns;
  static constexpr int consumers_of_a_tile = Config::consumers / turns;

  // Shared memory, from a multiple of 1024 bytes on: the ring, the staged strips of C, the sums of other
  // blocks, the barriers.
  static constexpr int alignment = 1024;
  static constexpr int staging_at = Config::ring_bytes;
  static constexpr int sum_at = staging_at + Config::warps * Config::staged * staged_strip_bytes;
  static constexpr int barriers_at = sum_at + (divides_k ? Sum::bytes : 0);
  static constexpr int shared_bytes = barriers_at + Ring::bytes + alignment;
  static_assert(
      shared_bytes <= most_shared_bytes,
      "GemmWgmma: ring and strips are larger than the shared memory of a block, 227 KB: fewer stages");

  // 65536 registers: 128 threads x 24 + 256 threads x 240. With one warpgroup that multiplies there are
  // enough.
  static constexpr int copying_registers = 24, multiplying_registers = 240;
  static constexpr int sum_registers =  // of a thread that multiplies, for its sums
      Config::Warp::m * Config::Warp::n / 128 * static_cast<int>(sizeof(typename Config::Acc)) / 4;
  // All warpgroups store a large tile together, and one alone the last of a block's tiles that are taken by
  // turns, while nothing is multiplied: that is worth code of its own (StoreStaged), if the sums leave
  // registers for it. (Of elements of 8 bits every product is scaled: there is no such code.)
  static constexpr bool large = !Config::pingpong && Block::m * Block::n >= 128 * 224;
  static constexpr bool stores_apart = Config::pingpong
                                           ? sum_registers < (Config::turned ? 176 : 192)
                                           : large && !eighths && Config::TileA::element_bytes > 1;
  // Whether of tiles that reach beyond the matrix fewer lines are copied. Not of the largest ones: who copies
  // them would spill registers, and what is multiplied with lines beyond the matrix takes longer than they
  // do.
  static constexpr bool cuts = !has_pairs && !large && !eighths;
  using MapB = std::conditional_t<cuts, TileMaps, TileMap>;
  using MapA = std::conditional_t<eighths, TensorMapsOfEighths, MapB>;
  // Sums that leave the epilogue few of them.
  static constexpr bool scarce_registers = has_pairs || sum_registers > 128;
  // At a time (StoreStaged).
  static constexpr int carried_lines = scarce_registers || (Config::pingpong && stores_apart) ? 2 : 4;

  // Of blocks that divide a k some warps of a warpgroup store in one, the others in another.
  static constexpr int storing_warps = divides_k ? 1 : 4;
  template <class Op>
  using Store =
      std::conditional_t<Config::turned, StoreStagedTurned<Op, Config::staged, storing_warps, stores_apart>,
                         StoreStaged<Op, Config::staged, stores_apart, carried_lines>>;

  // By all threads of the block, which has one dimension, once a kernel: the barriers in `shared` serve one
  // call. Takes the named barriers 1 to 5. op: what an epilogue's operation is, epilogue.hpp. p.raster: of
  // clusters of tiles.
  template <class Op>
  __device__ __forceinline__ static void run(const MapA& map_a, const MapB& map_b, const TensorMap& map_c,
                                             const GemmArguments& p, std::uint8_t* shared, const Op& op) {
    if (works_for_warp(Config::warps)) {
      if constexpr (!eighths) prefetch_maps(map_a);
      prefetch_maps(map_b);
      if (!eighths && copy_engine_can_write(p.c)) prefetch_map(map_c);
    }
    const std::uint32_t misaligned = ptx::shared_address(shared) % alignment;
    std::uint8_t* const memory = shared + (misaligned == 0 ? 0 : alignment - misaligned);
    const Ring ring(reinterpret_cast<std::uint64_t*>(memory + barriers_at));
    // A stage is free when every warp that reads a part written from here says so, in this block and its
    // neighbours.
    Sum sum(memory + sum_at, rank_k(), rank() % sharing_blocks);
    if (works_for_warp(0)) {
      ring.initialize(warps_of_a_tile * (Cluster::m + Cluster::n - 1));
      if constexpr (divides_k) sum.initialize();
    }
    if constexpr (eighths) {
      if (works_for_warp(Config::warps)) {
        const int tile_m = work_at(first_index(), p).tile.m;
        for (int i = 0; i < 2; ++i) prefetch_map(map_a.of[eighth_of(tile_m, i)]);
      }
    }
    meet();
    // The next kernel may begin. What it does before it waits for this one overlaps the end of it: of those
    // who copy all but the copies.
    cudaTriggerProgrammaticLaunchCompletion();
    if constexpr (scarce_registers) cudaGridDependencySynchronize();  // later, ptxas spills
    const int group = warpgroup();
    if (group == Config::consumers) {
      if constexpr (Config::consumers > 1) ptx::setmaxnreg_dec_sync_aligned_u32<copying_registers>();
      if (is_cut(p) && static_cast<int>(threadIdx.x) >= threads - idle_threads) clear_beyond(p, memory);
      if (works_for_warp(Config::warps)) {
        if (copies_as_if_cut || is_cut(p)) {
          copy_all<cuts>(map_a, map_b, p, memory, ring);
        } else {
          copy_all<false>(map_a, map_b, p, memory, ring);
        }
      }
      if constexpr (has_pairs) {
        __syncwarp();
        if (ends_in_pair(p)) {  // as those who multiply
          hand_over();
          hand_over();
        }
      }
    } else {
      if constexpr (Config::consumers > 1) ptx::setmaxnreg_inc_sync_aligned_u32<multiplying_registers>();
      if (is_cut(p) && group < consumers_of_a_tile) meet_at_cleared_slabs();
      if constexpr (!scarce_registers) cudaGridDependencySynchronize();  // for what the operation reads
      const auto operation = loaded(op);
      const Store<std::remove_const_t<decltype(operation)>> store(p.c, operation, map_c,
                                                                  ptx::shared_address(memory + staging_at));
      multiply_all(group, p, ptx::shared_address(memory), ring, sum, store);
    }
  }

 private:
  // Whether of some tile not all lines of a slab are copied.
  __device__ __forceinline__ static bool is_cut(const GemmArguments& p) {
    return cuts && min(p.copied_m, p.copied_n) < all_of_it;
  }
  // Rows of A, columns of B, from the tile's first one on.
  __device__ __forceinline__ static int rest_of_a(TilePosition tile, const GemmArguments& p) {
    return p.copied_m - tile.m * Block::m;
  }
  __device__ __forceinline__ static int rest_of_b(TilePosition tile, const GemmArguments& p) {
    return p.copied_n - tile.n * Block::n;
  }

  // Where who copies has registers enough, by the same code as if something were always cut off.
  static constexpr bool copies_as_if_cut = cuts && Config::consumers == 1;
  // Of the warpgroup that copies, those whose warps do not.
  static constexpr int idle_threads = 96;
  // By them: zeros where nothing of the block's first tile is copied to. What a later tile leaves of a slab
  // holds what was there before. The sums of either are not stored.
  __device__ __forceinline__ static void clear_beyond(const GemmArguments& p, std::uint8_t* memory) {
    const TilePosition tile = work_at(first_index(), p).tile;
    clear_slabs(memory, CopyA::bytes_of(rest_of_a(tile, p)), TileA::bytes);
    clear_slabs(memory + TileA::bytes, CopyB::bytes_of(rest_of_b(tile, p)), TileB::bytes);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    meet_at_cleared_slabs();
  }
  // The bytes [from, to) of an operand's part of each stage.
  __device__ __forceinline__ static void clear_slabs(std::uint8_t* operand, int from, int to) {
    const int first = static_cast<int>(threadIdx.x) - (threads - idle_threads);
#pragma unroll 1
    for (int at = from + 16 * first; at < to; at += 16 * idle_threads) {
#pragma unroll
      for (int stage = 0; stage < Config::stages; ++stage)
        *reinterpret_cast<uint4*>(operand + stage * Config::stage_bytes + at) = make_uint4(0, 0, 0, 0);
    }
  }
  // And by all who multiply the first tile.
  __device__ __forceinline__ static void meet_at_cleared_slabs() {
    asm volatile("bar.sync 5, %0;" ::"n"(idle_threads + 128 * consumers_of_a_tile) : "memory");
  }
  // Both: to ask first whether the second is wanted would take longer.
  __device__ __forceinline__ static void prefetch_maps(const MapB& maps) {
    prefetch_map(maps.whole);
    if constexpr (cuts) prefetch_map(maps.last);
  }

  // Of a cluster this orders no memory but the barriers that were initialised: by default an arrival waits
  // for all that the thread ever wrote, as seen by the whole device.
  __device__ __forceinline__ static void meet() {
    if constexpr (Cluster::blocks > 1) {
      cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_relaxed);
      cuda::ptx::barrier_cluster_wait();
    } else {
      __syncthreads();
    }
  }
  // By all threads of a cluster: what they wrote to each other's memory is there.
  __device__ __forceinline__ static void hand_over() {
    cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);
    cuda::ptx::barrier_cluster_wait();
  }

  // The warpgroup's number comes from lane 0, by which ptxas knows that a warp has one: it computes the
  // operands' descriptors in uniform registers, instead of moving them there before every instruction.
  __device__ __forceinline__ static int warpgroup() {
    return __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 128, 0);
  }

  // Blocks of a cluster are numbered along m first.
  __device__ __forceinline__ static int rank() {
    return Cluster::blocks == 1 ? 0 : static_cast<int>(blockIdx.x) % Cluster::blocks;
  }
  __device__ __forceinline__ static int rank_m() {
    return rank() % Cluster::m;
  }
  __device__ __forceinline__ static int rank_n() {
    return rank() / Cluster::m % Cluster::n;
  }
  __device__ __forceinline__ static int rank_k() {
    return rank() / (Cluster::m * Cluster::n);
  }

  // The part-th of `parts` of all slabs of k: `count` of them from slab `first` on.
  struct Slabs {
    int first, count;
  };
  __device__ __forceinline__ static int slabs_of(int k) {
    if constexpr (eighths) k += 7;  // that a line may lie further right
    return k / depth + (k % depth != 0);
  }
  // One slab at least, so that there are sums: if it is beyond k, the copy engine fills it with zeros.
  __device__ __forceinline__ static Slabs part_of(int all, int parts, int part) {
    if (parts == 1) return {0, all};
    const int most = (all + parts - 1) / parts, first = part * most;
    return {first, max(1, min(most, all - first))};
  }

  // What this block computes next: a tile, or (paired) half of the k of one.
  struct Work {
    TilePosition tile;
    Slabs slabs;
    bool paired;
  };
  __device__ __forceinline__ static Work work_at(int index, const GemmArguments& p) {
    const int beyond = index - p.undivided;
    const bool paired = has_pairs && beyond >= 0;
    // Of a paired tile both blocks of a cluster take the same member of the cluster's tiles.
    const TilePosition at = p.raster.at(paired ? p.undivided + beyond / Cluster::blocks : index);
    const int member = paired ? beyond % Cluster::blocks : rank() % sharing_blocks;
    const TilePosition tile{at.m * Cluster::m + member % Cluster::m, at.n * Cluster::n + member / Cluster::m};
    const int all = slabs_of(p.k);
    if (paired) return {tile, part_of(all, 2, rank()), true};
    return {tile, part_of(all, Cluster::k, rank_k()), false};
  }
  __device__ __forceinline__ static int first_index() {
    return static_cast<int>(blockIdx.x) / Cluster::blocks;
  }
  // Calls f(index) for the work of this block, in the order in which the grid takes it: for all of it, or
  // (every > 1) for what comes at one of so many turns. What the raster has from `undivided` on comes last, a
  // tile for each cluster at most.
  template <class F>
  __device__ __forceinline__ static void for_each_tile(const GemmArguments& p, int turn, int every, F&& f) {
    const int end = p.undivided + (p.raster.tiles() - p.undivided) * Cluster::blocks;
    const int clusters = static_cast<int>(gridDim.x) / Cluster::blocks;
    int index = first_index() + turn * clusters;
    for (; index < end; index += every * clusters) f(index);
  }

  __device__ __forceinline__ static bool ends_in_pair(const GemmArguments& p) {
    return first_index() < (p.raster.tiles() - p.undivided) * Cluster::blocks;
  }

  // One thread: this block's part of every slab of its tiles, as far ahead as the ring allows. cut: compiled
  // apart, so that where nothing is cut off the first copy waits for nothing more.
  template <bool cut>
  __device__ __forceinline__ static void copy_all(const MapA& map_a, const MapB& map_b,
                                                  const GemmArguments& p, std::uint8_t* memory,
                                                  const Ring& ring) {
    constexpr Stage<Config::stages> first_stage;
    Stage<Config::stages> stage = first_stage;
    for_each_tile(p, 0, 1, [&](int index) {
      const Work work = work_at(index, p);
      const int row = work.tile.m * Block::m, column = work.tile.n * Block::n;
      const int rest_a = cut ? rest_of_a(work.tile, p) : all_of_it;
      const int rest_b = cut ? rest_of_b(work.tile, p) : all_of_it;
      const int bytes = CopyA::bytes_of(rest_a) + CopyB::bytes_of(rest_b);
      if (!scarce_registers && index == first_index()) cudaGridDependencySynchronize();
      for (int slab = work.slabs.first; slab < work.slabs.first + work.slabs.count; ++slab) {
        ring.wait_empty(stage);
        ring.expect(stage, bytes);
        std::uint8_t* const to = memory + stage.index * Config::stage_bytes;
        if constexpr (eighths) {
          copy_eighths(to, map_a, work.tile.m, slab * depth, ring.full_barrier(stage));
        } else {
          copy_slab<TileA, parts_a>(to, map_a, row, rest_a, slab * depth, work.paired, rank_n(),
                                    every_mth_block() << rank_m(), ring.full_barrier(stage));
        }
        copy_slab<TileB, parts_b>(to + TileA::bytes, map_b, column, rest_b, slab * depth - lines_before,
                                  work.paired, rank_m(), ((1U << Cluster::m) - 1) << rank_n() * Cluster::m,
                                  ring.full_barrier(stage));
        stage = stage.next();
        // All blocks begin at once, and the L2 gives each what it asked for first: slabs for later would come
        // before the first ones of the blocks that begin last, with which the launch ends.
        if (large && index == first_index() && slab == work.slabs.first + 1) ring.wait_full(first_stage);
      }
    });
    if constexpr (sharing_blocks > 1) ring.drain(stage);
  }

  // What this block copies of a slab of an operand: its part, to all that read it; sharing: those of the
  // blocks that compute the same part of k. A paired block shares nothing: all parts, to itself.
  template <class Tile, int parts>
  __device__ __forceinline__ static void copy_slab(std::uint8_t* to, const MapB& maps, int start, int rest,
                                                   int k, bool paired, int part, unsigned sharing,
                                                   std::uint64_t* barrier) {
    if constexpr (has_pairs && parts > 1) {
      if (paired) {
#pragma unroll 1
        for (int i = 0; i < parts; ++i)
          copy_part<Tile, parts>(to, maps, start, rest, k, i, static_cast<std::uint16_t>(1U << rank()),
                                 barrier);
        return;
      }
    }
    const int first = rank() - rank() % sharing_blocks;
    copy_part<Tile, parts>(to, maps, start, rest, k, part, static_cast<std::uint16_t>(sharing << first),
                           barrier);
  }

  // The rows of a tile that is made of eighths of A: 64 of one for each warpgroup. Tiles go through all
  // eighths of 512 rows first.
  static constexpr int eighths_rows = 64;
  __device__ __forceinline__ static int eighth_of(int tile_m, int group) {
    return tile_m % 4 * 2 + group;
  }
  __device__ __forceinline__ static int row_in_eighth(int tile_m) {
    return tile_m / 4 * eighths_rows;
  }
  // Lines of B before those of a slab, which an eighth may begin with: whole patterns of the swizzle.
  static constexpr int lines_before = TileB::k_major ? 0 : TileB::lines - depth;

  __device__ __forceinline__ static void copy_eighths(std::uint8_t* to, const MapA& map, int tile_m, int k,
                                                      std::uint64_t* barrier) {
    constexpr int copies = 2 / parts_a;
#pragma unroll 1
    for (int i = 0; i < copies; ++i) {
      const int group = parts_a == 1 ? i : rank_n();
      const TensorMap& eighth = map.of[eighth_of(tile_m, group)];
      std::uint8_t* const there = to + group * eighths_rows * TileA::line_bytes;
      if constexpr (parts_a == 1) {
        copy_box(there, eighth, row_in_eighth(tile_m), k, barrier);
      } else {
        copy_box_to_cluster(there, eighth, row_in_eighth(tile_m), k, barrier,
                            static_cast<std::uint16_t>(every_mth_block()));
      }
    }
  }

  // By a warpgroup: its rows of a tile's first slab begin with the end of the lines before them; zeros
  // instead.
  __device__ __forceinline__ static void clear_shift(std::uint32_t a, int group, int shift) {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    if (thread < eighths_rows) {
      const int line = group * eighths_rows + thread;
      clear_elements(a + static_cast<std::uint32_t>(TileA::offset(line, 0)), shift);
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
  }

  // A tile from some address on, and only so deep: B from some line of k on, as an eighth of A needs it, or
  // what one step of wgmma multiplies.
  template <class Tile, int Depth>
  struct PartOf : Tile {
    static constexpr int depth = Depth;
  };
  static constexpr int step_depth = 32 / TileA::element_bytes;

  // The blocks of a cluster that stand along n from block 0, as bits.
  __device__ __forceinline__ static constexpr unsigned every_mth_block() {
    unsigned blocks = 0;
    for (int i = 0; i < Cluster::n; ++i) blocks |= 1U << i * Cluster::m;
    return blocks;
  }

  // The part-th of `parts` of a slab, to the same place in all the blocks of `sharing`, counted on the
  // barrier of each. start: the tile's first row (column) along m (n); rest: as TileCopy has it.
  template <class Tile, int parts>
  __device__ __forceinline__ static void copy_part(std::uint8_t* to, const MapB& maps, int start, int rest,
                                                   int k, int part, std::uint16_t sharing,
                                                   std::uint64_t* barrier) {
    using Copy = TileCopy<Tile, parts>;
    const int lines = Copy::lines_of(rest);
    if (lines == 0) return;
    const TensorMap* map = &maps.whole;
    if constexpr (cuts) map = lines == Copy::lines ? &maps.whole : &maps.last;
    const int first_panel = Copy::by_panels ? part * Copy::panels : 0;
    const int first_line = Copy::by_panels ? 0 : part * lines;
    // Not unrolled: one thread copies, with few registers, and has the time.
#pragma unroll 1
    for (int i = 0; i < Copy::panels; ++i) {
      const int panel = first_panel + i;
      const int offset = panel * Tile::panel_bytes + first_line * Tile::line_bytes;
      // Lines run along m or n where k is contiguous, else along k.
      const int along_lines = first_line + (Tile::k_major ? start : k);
      const int along_line = panel * Tile::panel_columns + (Tile::k_major ? k : start);
      if constexpr (parts == 1) {
        copy_box(to + offset, *map, along_lines, along_line, barrier);
      } else {
        copy_box_to_cluster(to + offset, *map, along_lines, along_line, barrier, sharing);
      }
    }
  }

  static constexpr int none = -1;  // no stage

  template <class Store>
  __device__ __forceinline__ static void multiply_all(int group, const GemmArguments& p, std::uint32_t memory,
                                                      const Ring& ring, Sum& sum, const Store& store) {
    const int turn = Config::pingpong ? group : 0;
    const int group_row = Config::pingpong ? 0 : group * Config::Warp::m;
    typename Config::Sums sums;
    Stage<Config::stages> stage;
    if constexpr (Config::pingpong) stage = stage.after(turn * slabs_of(p.k));
    const Turns<turns> multiplies(turn);
    for_each_tile(p, turn, turns, [&](int& index) {
      const Work now = work_at(index, p);
      const int block = block_to_tell(now.paired);
      multiplies.wait();
      sums.clear();
      Stage<Config::stages> previous{none, 0};
      // start(a, b) of a slab, then wait(), after which the slab before it is free.
      const auto multiply_slab = [&](const auto& start, const auto& wait) {
        ring.wait_full(stage);
        const std::uint32_t a = memory + stage.index * Config::stage_bytes;
        start(TileA{a}, TileB{a + TileA::bytes});
        wait();
        if (previous.index != none) release(ring, previous, block);
        previous = stage;
        stage = stage.next();
      };
      int left = now.slabs.count;
      if constexpr (eighths) {
        // From lane 0, as the warpgroup's number: the descriptors of B depend on it.
        const int shift =
            __shfl_sync(0xffffffffU, eighth_of(now.tile.m, group) * static_cast<int>(p.lda % 8) % 8, 0);
        bool first = shift != 0;
        const auto start = [&](const auto& a, const auto& b) {
          if (first) clear_shift(a.base, group, shift);
          first = false;
          sums.start(a, b, group_row, 0);
        };
        const auto wait = [&] { sums.wait_previous(); };
        const auto b_from = [&](const TileB& b) {
          return b.base + static_cast<std::uint32_t>((lines_before - shift) * 128);
        };
        // Of a last slab that holds what the shift has moved there and nothing else, one step of wgmma.
        const bool ends_early = p.k + shift <= (left - 1) * depth + step_depth;
        if (ends_early) --left;
#pragma unroll 1
        for (; left > 0; --left)
          multiply_slab([&](const TileA& a, const TileB& b) { start(a, PartOf<TileB, depth>{b_from(b)}); },
                        wait);
        if (ends_early) {
          multiply_slab(
              [&](const TileA& a, const TileB& b) {
                start(PartOf<TileA, step_depth>{a.base}, PartOf<TileB, step_depth>{b_from(b)});
              },
              wait);
        }
        sums.wait();
      } else if constexpr (Config::promotes) {
        const auto even = [&](const TileA& a, const TileB& b) { sums.template start<0>(a, b, group_row, 0); };
        const auto odd = [&](const TileA& a, const TileB& b) { sums.template start<1>(a, b, group_row, 0); };
        multiply_slab(even, [] {});
        while (true) {
          if (--left == 0) {
            sums.template add_last<0>();
            break;
          }
          multiply_slab(odd, [&] { sums.template add_previous<1>(); });
          if (--left == 0) {
            sums.template add_last<1>();
            break;
          }
          multiply_slab(even, [&] { sums.template add_previous<0>(); });
        }
      } else {
#pragma unroll 1
        for (; left > 0; --left) {
          multiply_slab([&](const TileA& a, const TileB& b) { sums.start(a, b, group_row, 0); },
                        [&] { sums.wait_previous(); });
        }
        multiplies.pass();
        sums.wait();
      }
      release(ring, previous, block);
      // The slabs of the other warpgroup's tile lie between: the ring is filled in the order of tiles.
      if constexpr (Config::pingpong) stage = stage.after((turns - 1) * slabs_of(p.k));
      // The largest tiles need the registers: there all of this is worked out once more, from numbers that
      // "change" here, and the epilogue holds one number for where the block is. It takes its time, which
      // small products have not.
      std::uint32_t here = static_cast<std::uint32_t>(index) * (2 * Config::stages) +
                           static_cast<std::uint32_t>(stage.index) * 2 + stage.phase;
      int thread = static_cast<int>(threadIdx.x);
      if constexpr (scarce_registers) asm volatile("" : "+r"(here), "+r"(thread));
      const Work work = scarce_registers ? work_at(static_cast<int>(here / (2 * Config::stages)), p) : now;
      const int warp_row = group_row + 16 * (thread / 32 % 4);
      const auto store_rows = [&](const auto& rows, int row) {
        const int column = work.tile.n * Block::n;
        if constexpr (eighths) {
          store.every_eighth(eighth_of(work.tile.m, group))(
              rows, row_in_eighth(work.tile.m) + 16 * (thread / 32 % 4), column);
        } else {
          const int first = work.tile.m * Block::m + row + warp_row;
          if (Block::m == 64 && !store.has_row(first)) return;
          store(rows, first, column);
        }
      };
      if constexpr (divides_k) {
        sums.for_each_part(
            [&](const auto& part, int row) { sum(part, [&](const auto& rows) { store_rows(rows, row); }); });
      } else if constexpr (has_pairs) {
        const auto received = [&](int row) {
          return memory + static_cast<std::uint32_t>(row / 64 * Pair::bytes);
        };
        const bool gives = work.paired && group != rank();
        if (work.paired) {
          hand_over();  // nobody needs the rings any more
          if (gives) {
            sums.for_each_part([&](const auto& part, int row) { Pair::send(part, received(row), group); });
          }
          hand_over();
        }
        if (!gives) {
          sums.for_each_part([&](const auto& part, int row) {
            store_rows(Pair::sum(part, work.paired ? received(row) : 0), row);
          });
        }
      } else {
        sums.for_each_part(store_rows);
      }
      if constexpr (scarce_registers) {
        asm volatile("" : "+r"(here));
        index = static_cast<int>(here / (2 * Config::stages));
        stage = {static_cast<int>(here / 2 % Config::stages), here % 2};
      }
    });
    store.finish();
    if constexpr (divides_k) sum.finish();
  }

  // Blocks that write to this one: those along m, then the others along n.
  static constexpr int writers = Cluster::m + Cluster::n - 1;
  // The block that lane i tells, for the i-th of them, that a stage has been read. paired: only this block
  // writes to it, and is told as often.
  __device__ __forceinline__ static int block_to_tell(bool paired) {
    const int lane = lane_id(), beyond = lane - Cluster::m, n = beyond + (beyond >= rank_n() ? 1 : 0);
    const int sharing = lane < Cluster::m ? rank_n() * Cluster::m + lane : n * Cluster::m + rank_m();
    int block = paired ? rank() : rank() - rank() % sharing_blocks + sharing;
    // A number of which nothing is known: the loop over slabs would be compiled twice, and the sums moved
    // between the registers of the two while instructions write them.
    asm volatile("" : "+r"(block));
    return block;
  }

  // By whole warps: this one has read the stage, whoever copied it.
  __device__ __forceinline__ static void release(const Ring& ring, Stage<Config::stages> stage, int block) {
    if constexpr (sharing_blocks == 1) {
      if (lane_id() == 0) ring.release(stage);
    } else {
      if (lane_id() < writers) ring.release_in(stage, block);
    }
  }
};

// The kernel of the library: alpha * A * B + beta * C. Grid: a multiple of the cluster, at most what runs at
// once, or as many clusters as arguments.raster has tiles.
template <class Config>
__global__ void __launch_bounds__(GemmWgmma<Config>::threads, 1)
    __cluster_dims__(Config::Cluster::blocks, 1, 1)
        gemm_wgmma(const __grid_constant__ typename GemmWgmma<Config>::MapA map_a,
                   const __grid_constant__ typename GemmWgmma<Config>::MapB map_b,
                   const __grid_constant__ TensorMap map_c, const __grid_constant__ GemmArguments arguments) {
  extern __shared__ std::uint8_t shared[];
  const LinearCombination combination{arguments.alpha, arguments.beta, arguments.c};
  const auto run = [&](const auto& op) {
    GemmWgmma<Config>::run(map_a, map_b, map_c, arguments, shared, op);
  };
  if constexpr (std::is_same_v<typename Config::Acc, float> && Config::TileA::element_bytes == 1) {
    run(ScaledCombination{combination, arguments.scale_a, arguments.scale_b});
  } else {
    run(combination);
  }
}

}  // namespace tenon
