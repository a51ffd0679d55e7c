// The GEMM of sm_90a's own matrix instruction: warpgroups multiply straight from shared memory (wgmma), one
// more copies (TMA), and the blocks of a cluster share what they both need (multicast).
//
// No operand passes through registers: a consumer warpgroup holds its part of the sums and tells the tensor
// core where the slabs stand. One group of wgmma is always in flight, so a slab is released when the
// instructions on the next one have been issued. The grid is persistent: copies for the next tile run during
// the epilogue of this one, whose stores are the copy engine's as well (StoreStaged). Where tiles are few the
// blocks of a cluster divide the k of one tile instead and add up (ClusterSum). A launch may overlap the end
// of the kernel before it. Below: wgmma_config.hpp, cluster_sum.hpp, store_tma.hpp, pipeline/tma_ring.hpp,
// ptx/setmaxnreg.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/cluster_sum.hpp"
#include "tenon/gemm/store_tma.hpp"
#include "tenon/gemm/wgmma_config.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/setmaxnreg.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {

// Config: WgmmaConfig. Launch with `threads`, shared_bytes of dynamic shared memory and clusters of
// Config::Cluster, at most as many as the device runs at once. map_a and map_b: 128-byte swizzle, boxes of
// copy_lines<Tile, parts> x Tile::panel_columns.
template <class Config>
struct GemmWgmma {
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  using Ring = TmaRing<Config::stages>;
  static constexpr int threads = 32 * Config::warps + 128;
  static constexpr int depth = Block::k;
  // The blocks that share a tile copy as many parts of it.
  static constexpr int parts_a = Cluster::n, parts_b = Cluster::m;
  template <class Tile, int parts>
  static constexpr int copy_lines = Tile::k_major ? Tile::lines / parts : Tile::lines;

  // Without blocks along k there is nothing to add up, and no memory for it.
  using Sum = ClusterSum<typename Config::Acc, Cluster::k, Config::warps, Block::n>;
  static constexpr bool divides_k = Cluster::k > 1;

  // Shared memory, from a multiple of 1024 bytes on: the ring, the staged strips of C, the sums of other
  // blocks, the barriers.
  static constexpr int alignment = 1024;
  static constexpr int staging_at = Config::ring_bytes;
  static constexpr int sum_at = staging_at + Config::warps * Config::staged * staged_strip_bytes;
  static constexpr int barriers_at = sum_at + (divides_k ? Sum::bytes : 0);
  static constexpr int shared_bytes = barriers_at + Ring::bytes + alignment;

  // 65536 registers: 128 threads x 24 + 256 threads x 240. With one warpgroup that multiplies there are
  // enough.
  static constexpr int copying_registers = 24, multiplying_registers = 240;

  // By all threads of the block. op: what an epilogue's operation is, epilogue.hpp. raster: of clusters of
  // tiles.
  template <class Op>
  __device__ __forceinline__ static void run(const TensorMap& map_a, const TensorMap& map_b,
                                             const TensorMap& map_c, int k, const Raster& raster,
                                             std::uint8_t* shared, const Output& c, const Op& op) {
    const std::uint32_t misaligned = ptx::shared_address(shared) % alignment;
    std::uint8_t* const memory = shared + (misaligned == 0 ? 0 : alignment - misaligned);
    const Ring ring(reinterpret_cast<std::uint64_t*>(memory + barriers_at));
    // A stage is free when every warp that reads a part written from here says so, in this block and its
    // neighbours.
    Sum sum(memory + sum_at, rank_k());
    if (threadIdx.x == 0) {
      ring.initialize(Config::warps * (Cluster::m + Cluster::n - 1));
      if constexpr (divides_k) sum.initialize();
    }
    meet();
    // What is before this line overlaps the end of the kernel before; the next kernel may do likewise.
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    const Slabs slabs = slabs_of_block(k);
    const int group = static_cast<int>(threadIdx.x) / 128;
    if (group == Config::consumers) {
      if constexpr (Config::consumers > 1) ptx::setmaxnreg_dec_sync_aligned_u32<copying_registers>();
      if (threadIdx.x == 128 * Config::consumers) copy_all(map_a, map_b, slabs, raster, memory, ring);
    } else {
      if constexpr (Config::consumers > 1) ptx::setmaxnreg_inc_sync_aligned_u32<multiplying_registers>();
      const auto operation = loaded(op);
      const StoreStaged<std::remove_const_t<decltype(operation)>, Config::staged> store(
          c, operation, map_c, ptx::shared_address(memory + staging_at));
      multiply_all(group, slabs, raster, ptx::shared_address(memory), ring, sum, store);
    }
    if constexpr (Cluster::blocks > 1) meet();  // nobody leaves while another block may write to its memory
  }

 private:
  __device__ __forceinline__ static void meet() {
    if constexpr (Cluster::blocks > 1) {
      cuda::ptx::barrier_cluster_arrive();
      cuda::ptx::barrier_cluster_wait();
    } else {
      __syncthreads();
    }
  }

  // Blocks of a cluster are numbered along m first.
  __device__ __forceinline__ static int rank() {
    return Cluster::blocks == 1 ? 0 : static_cast<int>(blockIdx.x) % Cluster::blocks;
  }
  __device__ __forceinline__ static int rank_m() { return rank() % Cluster::m; }
  __device__ __forceinline__ static int rank_n() { return rank() / Cluster::m % Cluster::n; }
  __device__ __forceinline__ static int rank_k() { return rank() / (Cluster::m * Cluster::n); }

  // This block's part of k: `count` slabs from slab `first` on.
  struct Slabs {
    int first, count;
  };
  // One slab at least, so that there are sums: if it is beyond k, the copy engine fills it with zeros.
  __device__ __forceinline__ static Slabs slabs_of_block(int k) {
    const int all = k / depth + (k % depth != 0);
    if constexpr (!divides_k) return {0, all};
    const int most = (all + Cluster::k - 1) / Cluster::k, first = rank_k() * most;
    return {first, max(1, min(most, all - first))};
  }

  // Calls f(tile) for every tile of this block, in the order in which the grid takes them.
  template <class F>
  __device__ __forceinline__ static void for_each_tile(const Raster& raster, F&& f) {
    for (int index = static_cast<int>(blockIdx.x) / Cluster::blocks; index < raster.tiles();
         index += static_cast<int>(gridDim.x) / Cluster::blocks) {
      const TilePosition at = raster.at(index);
      f(TilePosition{at.m * Cluster::m + rank_m(), at.n * Cluster::n + rank_n()});
    }
  }

  // One thread: this block's part of every slab of its tiles, as far ahead as the ring allows.
  __device__ __forceinline__ static void copy_all(const TensorMap& map_a, const TensorMap& map_b, Slabs slabs,
                                                  const Raster& raster, std::uint8_t* memory,
                                                  const Ring& ring) {
    const unsigned along_m = (1U << Cluster::m) - 1, along_n = every_mth_block();
    const auto sharing_a = static_cast<std::uint16_t>(along_n << rank_m());
    const auto sharing_b = static_cast<std::uint16_t>(along_m << rank_n() * Cluster::m);
    Stage<Config::stages> stage;
    for_each_tile(raster, [&](TilePosition tile) {
      for (int slab = slabs.first; slab < slabs.first + slabs.count; ++slab) {
        ring.wait_empty(stage);
        ring.expect(stage, Config::stage_bytes);
        std::uint8_t* const to = memory + stage.index * Config::stage_bytes;
        copy_part<TileA, parts_a>(to, map_a, tile.m * Block::m, slab * depth, rank_n(), sharing_a,
                                  ring.full_barrier(stage));
        copy_part<TileB, parts_b>(to + TileA::bytes, map_b, tile.n * Block::n, slab * depth, rank_m(),
                                  sharing_b, ring.full_barrier(stage));
        stage = stage.next();
      }
    });
  }

  // The blocks of a cluster that stand along n from block 0, as bits.
  __device__ __forceinline__ static constexpr unsigned every_mth_block() {
    unsigned blocks = 0;
    for (int i = 0; i < Cluster::n; ++i) blocks |= 1U << i * Cluster::m;
    return blocks;
  }

  // The part-th of `parts` of a slab, to the same place in all the blocks of `sharing`, counted on the
  // barrier of each. start: the tile's first row (column) along m (n).
  template <class Tile, int parts>
  __device__ __forceinline__ static void copy_part(std::uint8_t* to, const TensorMap& map, int start, int k,
                                                   int part, std::uint16_t sharing, std::uint64_t* barrier) {
    const auto copy = [&](int offset, int line, int column) {
      if constexpr (parts == 1) {
        copy_box(to + offset, map, line, column, barrier);
      } else {
        copy_box_to_cluster(to + offset, map, line, column, barrier, sharing);
      }
    };
    if constexpr (Tile::k_major) {
      static_assert(
          Tile::lines % (8 * parts) == 0 && Tile::panels == 1,
          "GemmWgmma: a part of a k-major slab must be whole groups of 8 lines, k at most 128 bytes");
      const int first = part * copy_lines<Tile, parts>;
      copy(first * Tile::line_bytes, start + first, k);
    } else {
      static_assert(Tile::panels % parts == 0, "GemmWgmma: a part of a slab must be whole panels of 64");
#pragma unroll
      for (int i = 0; i < Tile::panels / parts; ++i) {
        const int panel = part * (Tile::panels / parts) + i;
        copy(panel * Tile::panel_bytes, k, start + panel * Tile::panel_columns);
      }
    }
  }

  template <class Store>
  __device__ __forceinline__ static void multiply_all(int group, Slabs slabs, const Raster& raster,
                                                      std::uint32_t memory, const Ring& ring, Sum& sum,
                                                      const Store& store) {
    const int group_row = group * Config::Warp::m;
    const int warp_row = 16 * (static_cast<int>(threadIdx.x) / 32 % 4);
    typename Config::Sums sums;
    Stage<Config::stages> stage;
    for_each_tile(raster, [&](TilePosition tile) {
      sums.clear();
      if constexpr (Config::promotes) {
#pragma unroll 1
        for (int slab = 0; slab < slabs.count; ++slab) {
          ring.wait_full(stage);
          const std::uint32_t a = memory + stage.index * Config::stage_bytes;
          sums.add(TileA{a}, TileB{a + TileA::bytes}, group_row, 0);
          release(ring, stage);
          stage = stage.next();
        }
      } else {
        Stage<Config::stages> previous = stage;
#pragma unroll 1
        for (int slab = 0; slab < slabs.count; ++slab) {
          ring.wait_full(stage);
          const std::uint32_t a = memory + stage.index * Config::stage_bytes;
          sums.start(TileA{a}, TileB{a + TileA::bytes}, group_row, 0);
          sums.wait_previous();
          if (slab > 0) release(ring, previous);
          previous = stage;
          stage = stage.next();
        }
        sums.wait();
        release(ring, previous);
      }
      sums.for_each_part([&](const auto& part, int row) {
        const auto store_rows = [&](const auto& rows) {
          store(rows, tile.m * Block::m + group_row + row + warp_row, tile.n * Block::n);
        };
        if constexpr (divides_k) {
          sum(part, store_rows);
        } else {
          store_rows(part);
        }
      });
    });
    store.finish();
  }

  // By whole warps: this one has read the stage, whoever copied it.
  __device__ __forceinline__ static void release(const Ring& ring, Stage<Config::stages> stage) {
    if constexpr (Cluster::m * Cluster::n == 1) {
      if (lane_id() == 0) ring.release(stage);
    } else {
      // Lane i tells the i-th block that writes here: those along m, then the others along n.
      constexpr int writers = Cluster::m + Cluster::n - 1;
      const int lane = lane_id();
      if (lane < writers) {
        const int beyond = lane - Cluster::m, n = beyond + (beyond >= rank_n() ? 1 : 0);
        ring.release_in(stage, lane < Cluster::m ? rank_n() * Cluster::m + lane : n * Cluster::m + rank_m());
      }
    }
  }
};

// The kernel of the library: alpha * A * B + beta * C. Grid: a multiple of the cluster, at most what runs at
// once, or as many clusters as arguments.raster has tiles.
template <class Config>
__global__ void __launch_bounds__(GemmWgmma<Config>::threads, 1)
    __cluster_dims__(Config::Cluster::blocks, 1, 1)
        gemm_wgmma(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
                   const __grid_constant__ TensorMap map_c, const __grid_constant__ GemmArguments arguments) {
  extern __shared__ std::uint8_t shared[];
  const LinearCombination combination{arguments.alpha, arguments.beta, arguments.c};
  const auto run = [&](const auto& op) {
    GemmWgmma<Config>::run(map_a, map_b, map_c, arguments.k, arguments.raster, shared, arguments.c, op);
  };
  if constexpr (std::is_same_v<typename Config::Acc, float> && Config::TileA::element_bytes == 1) {
    run(ScaledCombination{combination, arguments.scale_a, arguments.scale_b});
  } else {
    run(combination);
  }
}

}  // namespace tenon
