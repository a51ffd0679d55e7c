// The GEMM of wgmma for operands that lie anywhere: k contiguous in both, elements of 16 bits, any leading
// dimensions, no copies.
//
// The copy engine begins at multiples of 16 bytes, where only some lines of such a matrix begin; but every
// eighth line lies equally, and such lines are a matrix of their own that the copy engine can read, at most 7
// elements further right than it should be. wgmma reads one operand from shared memory, in which all lines
// must lie equally: that is A, of which a tile has lines of one eighth, so that it computes every eighth row
// of C. The other one it takes from registers, and what passes through registers can be shifted
// (ShiftedRows): that is B, of which a tile has neighbouring lines, from all eighths. So the sums are the
// transpose of C (StoreTurned). Where A is aligned after all, or a copy is, a tile has neighbouring rows of
// it.
//
// A ring of slabs, one warpgroup that copies and two that multiply, as in gemm_wgmma.hpp; the two blocks of a
// cluster stand along n and share the slabs of A. Below: store_turned.hpp, drop_elements.hpp, arguments.hpp,
// warp/shifted_rows.hpp, warp/wgmma_accumulator.hpp, pipeline/tma_ring.hpp, ptx/setmaxnreg.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/config.hpp"
#include "tenon/gemm/drop_elements.hpp"
#include "tenon/gemm/store_turned.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/setmaxnreg.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/warp/shifted_rows.hpp"
#include "tenon/warp/wgmma_accumulator.hpp"

namespace tenon {

// T_: __half or __nv_bfloat16. M: rows of C in a tile, what wgmma has as n. Stages: slabs of 64 of k in
// flight.
template <class T_, int M, int Stages>
struct UnalignedConfig {
  static_assert(sizeof(T_) == 2, "UnalignedConfig: elements must have 16 bits; 8 lines of them lie equally");
  static_assert(Stages >= 2, "UnalignedConfig: a slab is copied while another one is multiplied");
  using T = T_;
  using TB = T_;
  using Acc = float;
  using Block = TileShape<M, 128, 64>;
  using Warp = TileShape<M, 64, 0>;  // of a warpgroup
  static constexpr int stages = Stages;
  static constexpr Order a_order = Order::row_major, b_order = Order::column_major;
  static constexpr int cluster = 2;  // blocks along n
};

// Which lines of A make the rows of a tile: those of one eighth, or (rows_apart 1) neighbours. Tiles go
// through all eighths of 8 M rows first.
//
// Slabs begin some elements before the lines of A: 8, so that B can be shifted both ways. Where that tears
// every line of a box in two lines of the L2, which takes the copy engine longer, they begin a whole slab
// before; of that one only B is copied, and nothing multiplied.
struct UnalignedArguments {
  GemmArguments gemm;
  int rows_apart;  // 8 or 1: then every map of A is that of all its lines
  int before;      // 8, or 64 if all lines of A begin on multiples of 16 bytes
};

// Launch with `threads`, shared_bytes of dynamic shared memory and clusters of Config::cluster, at most as
// many as the device runs at once. map_a and map_b: 128-byte swizzle, boxes of box_lines_a and box_lines_b x
// 64.
template <class Config>
struct GemmUnaligned {
  using T = typename Config::T;
  using Block = typename Config::Block;
  static constexpr int stages = Config::stages, cluster = Config::cluster;
  using TileA = OperandTile<T, Block::m, Block::k, true>;
  using Ring = TmaRing<stages>;
  using Sums = WgmmaAccumulator<float, Block::m>;
  using Fragment = FragmentA<WgmmaShape<Block::m, 16>, T>;
  using Rows = ShiftedRows<T>;
  static constexpr int warps = 8;  // that multiply
  static constexpr int threads = 32 * warps + 128;
  static constexpr int depth = Block::k, steps = 4;  // of wgmma in a slab
  static_assert(depth == Rows::depth && depth == steps * 16, "GemmUnaligned: slabs have 64 elements of k");

  static constexpr int box_lines_a = Block::m / cluster, box_lines_b = Block::n / 8;
  // Between the eighths of B a line is left out: lanes read lines of all eighths at once, which then stand on
  // different banks.
  static constexpr int eighth_bytes = (box_lines_b + 1) * 128;
  static constexpr int b_bytes = 8 * eighth_bytes;
  static constexpr int stage_bytes = b_bytes + TileA::bytes;
  static constexpr int copied_bytes = Block::n * 128 + TileA::bytes;
  static_assert(b_bytes % 1024 == 0, "GemmUnaligned: A must start on a multiple of 1024 bytes");

  // Shared memory, from a multiple of 1024 bytes on: the ring, the lines of C, the barriers.
  static constexpr int alignment = 1024;
  static constexpr int staging_at = stages * stage_bytes;
  template <class Op>
  using Store = StoreTurned<Op, Block::m, std::is_same_v<T, __half> ? Type::f16 : Type::bf16>;
  static constexpr int barriers_at = staging_at + Store<LinearCombination>::bytes;
  static constexpr int shared_bytes = barriers_at + Ring::bytes + alignment;

  // 65536 registers: 128 threads x 24 + 256 threads x 240.
  static constexpr int copying_registers = 24, multiplying_registers = 240;

  // By all threads of the block. op: what an epilogue's operation is, epilogue.hpp.
  template <class Op>
  __device__ __forceinline__ static void run(const TensorMapsOfEighths& map_a,
                                             const TensorMapsOfEighths& map_b, const UnalignedArguments& p,
                                             std::uint8_t* shared, const Op& op) {
    const std::uint32_t misaligned = ptx::shared_address(shared) % alignment;
    std::uint8_t* const memory = shared + (misaligned == 0 ? 0 : alignment - misaligned);
    const Ring ring(reinterpret_cast<std::uint64_t*>(memory + barriers_at));
    if (works_for_warp(warps)) {
      for (int i = 0; i < 8; ++i) prefetch_map(map_b.of[i]);
    }
    // A stage is free when every warp of both blocks says so: each writes to both.
    if (works_for_warp(0)) ring.initialize(cluster * warps);
    cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_relaxed);  // orders the barriers, which is enough
    cuda::ptx::barrier_cluster_wait();
    // What is before this line overlaps the end of the kernel before; the next kernel may do likewise.
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    // From lane 0, by which ptxas knows that a warp has one number.
    const int group = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 128, 0);
    if (group == 2) {
      ptx::setmaxnreg_dec_sync_aligned_u32<copying_registers>();
      if (works_for_warp(warps)) copy_all(map_a, map_b, p, memory, ring);
    } else {
      ptx::setmaxnreg_inc_sync_aligned_u32<multiplying_registers>();
      const std::uint32_t base = ptx::shared_address(memory);
      multiply_all(p, base, ring, Store<Op>(p.gemm.c, op, base + staging_at, barrier));
    }
  }

 private:
  static constexpr int barrier = 1;  // of the threads that multiply

  // Elements between the last multiple of 16 bytes and the line.
  __device__ __forceinline__ static int shift_of(const void* matrix, std::int64_t ld, int line) {
    return static_cast<int>((reinterpret_cast<std::uintptr_t>(matrix) / 2 +
                             static_cast<std::uint64_t>(line) * static_cast<std::uint64_t>(ld)) %
                            8);
  }
  __device__ __forceinline__ static int shift_of_b(const UnalignedArguments& p, int eighth) {
    return shift_of(p.gemm.b, p.gemm.ldb, eighth);
  }

  __device__ __forceinline__ static int rank() { return static_cast<int>(blockIdx.x) % cluster; }

  struct Tile {
    int eighth, first;  // of A, and its first line in it
    int column;
    int shift;  // of the lines of A
  };
  __device__ __forceinline__ static Tile tile_at(int index, const UnalignedArguments& p) {
    const TilePosition at = p.gemm.raster.at(index);
    const int eighth = at.m % p.rows_apart;
    return {eighth, at.m / p.rows_apart * Block::m, (at.n * cluster + rank()) * Block::n,
            shift_of(p.gemm.a, p.gemm.lda, eighth)};
  }
  template <class F>
  __device__ __forceinline__ static void for_each_tile(const UnalignedArguments& p, F&& f) {
    const int clusters = static_cast<int>(gridDim.x) / cluster, tiles = p.gemm.raster.tiles();
    for (int index = static_cast<int>(blockIdx.x) / cluster; index < tiles; index += clusters)
      f(tile_at(index, p));
  }

  static constexpr int chunk = 8;  // elements
  // Of which the first holds nothing of A where there is one before its lines. Lines that begin further right
  // end up to 7 after k.
  __device__ __forceinline__ static int slabs_of(const UnalignedArguments& p) {
    return (p.gemm.k - 1 + p.before + (p.before == depth ? 0 : chunk - 1)) / depth + 1;
  }
  __device__ __forceinline__ static bool has_slab_before(const UnalignedArguments& p) {
    return p.before == depth;
  }
  // B begins with A or, where its lines lie further right than those of A, a chunk later: then what is left
  // to shift is 0 to 7.
  __device__ __forceinline__ static bool begins_later(int shift_b, int shift_a) { return shift_b >= shift_a; }

  // One thread: the slabs of all tiles, as far ahead as the ring allows.
  __device__ __forceinline__ static void copy_all(const TensorMapsOfEighths& map_a,
                                                  const TensorMapsOfEighths& map_b,
                                                  const UnalignedArguments& p, std::uint8_t* memory,
                                                  const Ring& ring) {
    const int slabs = slabs_of(p);
    Stage<stages> stage;
    for_each_tile(p, [&](const Tile& tile) {
      unsigned later = 0;  // eighths of B that begin so
      for (int i = 0; i < 8; ++i) later |= (begins_later(shift_of_b(p, i), tile.shift) ? 1U : 0U) << i;
#pragma unroll 1
      for (int slab = 0; slab < slabs; ++slab) {
        const bool has_a = slab > 0 || !has_slab_before(p);
        ring.wait_empty(stage);
        ring.expect(stage, has_a ? copied_bytes : copied_bytes - TileA::bytes);
        std::uint8_t* const b = memory + stage.index * stage_bytes;
        const int k = slab * depth - p.before;
        if (has_a) {
          copy_box_to_cluster(b + b_bytes + rank() * box_lines_a * 128, map_a.of[tile.eighth],
                              tile.first + rank() * box_lines_a, k, ring.full_barrier(stage),
                              static_cast<std::uint16_t>((1U << cluster) - 1));
        }
#pragma unroll 1
        for (int i = 0; i < 8; ++i) {
          copy_box(b + i * eighth_bytes, map_b.of[i], tile.column / 8,
                   k + static_cast<int>(later >> i & 1U) * chunk, ring.full_barrier(stage));
        }
        stage = stage.next();
      }
    });
    ring.drain(stage);
  }

  // By all threads that multiply, of a tile's first slab: lines begin with the end of the lines before them;
  // zeros instead. Where there is a slab before, that is where those ends are.
  __device__ __forceinline__ static void clear_shifts(const UnalignedArguments& p, const Tile& tile,
                                                      std::uint32_t b) {
    const int thread = static_cast<int>(threadIdx.x);
    const auto address = [](int line, int c) {
      return static_cast<std::uint32_t>(line * 128 + swizzled_chunk<128>(line, c) * 16);
    };
    for (int line = thread; line < Block::m; line += 32 * warps)
      clear_elements(b + b_bytes + address(line, 1), tile.shift);
    if (thread < Block::n) {
      const int eighth = thread / box_lines_b, shift = shift_of_b(p, eighth);
      const int line = thread % box_lines_b + eighth * (eighth_bytes / 128);
      clear_elements(b + address(line, begins_later(shift, tile.shift) ? 0 : 1), shift);
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    asm volatile("bar.sync %0, %1;" ::"n"(barrier), "n"(32 * warps) : "memory");
  }

  // Rows g and g + 8 of the sums of warp w are neighbours, columns 16 w + 2 g and 16 w + 2 g + 1 of the tile:
  // where ldb is odd all lanes want an odd shift for one of the two, and an even one for the other.
  __device__ __forceinline__ static Rows rows_of(const UnalignedArguments& p, const Tile& tile) {
    const int first = static_cast<int>(threadIdx.x) / 32 * 16 + lane_id() / 4 * 2;
    int offset[2], shift[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int eighth = (first + h) % 8;
      offset[h] = eighth * eighth_bytes + first / 8 * 128;
      shift[h] = (shift_of_b(p, eighth) - tile.shift) & 7;
    }
    return {offset, shift};
  }

  template <class Store>
  __device__ __forceinline__ static void multiply_all(const UnalignedArguments& p, std::uint32_t memory,
                                                      const Ring& ring, const Store& store) {
    const int slabs = slabs_of(p) - (has_slab_before(p) ? 1 : 0), lane = lane_id();  // that are multiplied
    const auto slab_at = [&](Stage<stages> stage) {
      return memory + static_cast<std::uint32_t>(stage.index * stage_bytes);
    };
    Sums sums;
    Stage<stages> stage;
    for_each_tile(p, [&](const Tile& tile) {
      Rows rows = rows_of(p, tile);
      Fragment b[steps];
      // Adds the products of the first `count` steps of the slab that was loaded.
      const auto multiply = [&](auto count, bool add) {
        rows.shift(b);
        sums.fence(b[0], b[1], b[2], b[3]);
        const OperandDescriptor<TileA> a(TileA{slab_at(stage) + b_bytes}, 0);
#pragma unroll
        for (int i = 0; i < decltype(count)::value; ++i)
          sums.template multiply<T, T>(b[i], a.at(i), add || i > 0);
        sums.commit();
        __syncwarp();  // all lanes have read the slab, before one of them releases it
      };
      const auto release = [&](Stage<stages> of) {
        if (lane < cluster) ring.release_in(of, lane);
      };
      // While one warpgroup shifts, the other one multiplies: a second set of fragments, to shift ahead, was
      // no faster.
      const auto multiply_next = [&](auto count) {
        const Stage<stages> previous = stage;
        stage = stage.next();
        ring.wait_full(stage);
        rows.load(slab_at(stage));
        sums.template wait_for_operands<0>();
        release(previous);
        multiply(count, true);
      };
      constexpr std::integral_constant<int, steps> whole{};
      constexpr std::integral_constant<int, 1> one{};
      ring.wait_full(stage);
      const Stage<stages> slab_before = stage;
      if (has_slab_before(p)) {
        rows.load_before(slab_at(stage));
        stage = stage.next();
        ring.wait_full(stage);
      } else {
        clear_shifts(p, tile, slab_at(stage));
      }
      rows.load(slab_at(stage));
      multiply(whole, false);
      if (has_slab_before(p)) release(slab_before);
      // Of a last slab that holds a few elements, or none, one step.
      const bool ends_early =
          slabs > 1 && p.gemm.k + p.before % depth + tile.shift <= (slabs - 1) * depth + 16;
#pragma unroll 1
      for (int left = slabs - (ends_early ? 2 : 1); left > 0; --left) multiply_next(whole);
      if (ends_early) multiply_next(one);
      sums.when_done([&](auto& values) {
        release(stage);
        stage = stage.next();
        store(values, {tile.first * p.rows_apart + tile.eighth, p.rows_apart, tile.column});
      });
    });
  }
};

// The kernel of the library: alpha * A * B + beta * C. Grid: a multiple of the cluster, at most what runs at
// once.
template <class Config>
__global__ void __launch_bounds__(GemmUnaligned<Config>::threads, 1) __cluster_dims__(Config::cluster, 1, 1)
    gemm_unaligned(const __grid_constant__ TensorMapsOfEighths map_a,
                   const __grid_constant__ TensorMapsOfEighths map_b,
                   const __grid_constant__ UnalignedArguments arguments) {
  extern __shared__ std::uint8_t shared[];
  const GemmArguments& p = arguments.gemm;
  GemmUnaligned<Config>::run(map_a, map_b, arguments, shared, LinearCombination{p.alpha, p.beta, p.c});
}

}  // namespace tenon
