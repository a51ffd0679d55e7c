// The GEMM of many small problems: a warp, or a few warps, compute one tile of C whose whole k fits into one
// stage of shared memory. Memory bounds these kernels, so they keep as many bytes in flight as they can.
//
// A CTA has several groups of warps, which run without each other. Each group walks over the tiles of the
// batch and has a ring of its own, in which a stage holds the A and B of one tile, from the first k to the
// last: while the group multiplies one tile, the copies of the next ones are in flight, and no copy waits for
// a store. Below: batch.hpp, config.hpp, producer_cp_async.hpp, store_registers.hpp,
// store_staged.hpp, pipeline/cp_async_ring.hpp, pipeline/grid_dependency.hpp.
#pragma once

#include "tenon/ptx/needs_sm_80.hpp"

#include "tenon/gemm/batch.hpp"
#include "tenon/gemm/config.hpp"
#include "tenon/gemm/producer_cp_async.hpp"
#include "tenon/gemm/store_registers.hpp"
#include "tenon/gemm/store_staged.hpp"
#include "tenon/pipeline/cp_async_ring.hpp"
#include "tenon/pipeline/grid_dependency.hpp"
#include "tenon/ptx/barrier.hpp"
#include "tenon/ptx/opaque.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {

// T_: __half or __nv_bfloat16. Acc_: float, or __half with T_ = __half. Block_: the tile, TileShape; its k is
// the largest that the kernel takes. Warp_: TileShape, its k is not used (0). Groups: of a CTA. Stages: tiles
// in the ring of a group.
template <class T_, class Acc_, Order a_order_, Order b_order_, class Block_, class Warp_, int Groups,
          int Stages>
struct SmallConfig {
  using T = T_;
  using TB = T_;
  using Acc = Acc_;
  using Block = Block_;
  using Warp = Warp_;
  static constexpr Order a_order = a_order_, b_order = b_order_;
  static constexpr int groups = Groups, stages = Stages;

  using TileA = OperandTile<T, Block::m, Block::k, a_order == Order::row_major>;
  using TileB = OperandTile<T, Block::n, Block::k, b_order == Order::column_major>;
  using WarpAccumulator = WarpTile<T, Acc, Warp::m, Warp::n>;
  using WalkA = OperandCursor<TileA, Operand::a, Warp::m>;
  using WalkB = OperandCursor<TileB, Operand::b, Warp::n>;

  static constexpr int warps_m = Block::m / Warp::m, warps_n = Block::n / Warp::n;
  static constexpr int group_threads = 32 * warps_m * warps_n, threads = Groups * group_threads;
  static_assert(
      Groups >= 1 && Groups <= 15 && threads <= 1024,
      "SmallConfig: a CTA has 1 to 15 groups, each with a barrier of its own, and 1024 threads at most");
  static constexpr int stage_bytes = TileA::bytes + TileB::bytes;
  // With so few bytes a grid is over before the next one has begun. If that began earlier, it would have to
  // be woken, which takes longer (1000 products of 16^3 on an H200: 3.1 us instead of 2.0).
  static constexpr bool is_tiny = stage_bytes < 4096;
  static constexpr int ring_bytes = Stages * stage_bytes, shared_bytes = Groups * ring_bytes;
  // CTAs of a multiprocessor of sm_90: as many as its shared memory holds, but no more than leave each thread
  // 80 registers. The system takes 1 KB a CTA.
  static constexpr int system_bytes = 1024, most_threads = 768;
  static constexpr int resident_by_bytes = (most_shared_bytes + system_bytes) / (shared_bytes + system_bytes),
                       resident_by_threads = most_threads / threads;
  static constexpr int resident =
      resident_by_bytes < resident_by_threads ? resident_by_bytes : resident_by_threads;
  static_assert(resident >= 1,
                "SmallConfig: the rings of a CTA are larger than the shared memory of any CTA");
  // The swizzle of a tile with rows of 128 bytes begins on multiples of 1024, that of 64 bytes on 512, of 32
  // bytes on 256.
  static_assert(TileA::bytes % (8 * TileB::row_bytes) == 0 && stage_bytes % (8 * TileA::row_bytes) == 0,
                "SmallConfig: each tile must start where its swizzle begins");
  static_assert(WalkA::conflicts() == 0 && WalkB::conflicts() == 0,
                "SmallConfig: ldmatrix would conflict on the banks of shared memory");
};

template <class Config, Alignment alignment>
struct GemmSmall {
  using Block = typename Config::Block;
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  using CopyA = ProducerCpAsync<TileA, Config::group_threads, alignment>;
  using CopyB = ProducerCpAsync<TileB, Config::group_threads, alignment>;
  static_assert(CopyA::conflicts() == 0 && CopyB::conflicts() == 0,
                "GemmSmall: the copies would conflict on the banks of shared memory");
  using Ring = CpAsyncRing<Config::stages>;
  using Staged = StoreStaged<Config::Warp::m, Config::Warp::n>;
  static_assert(Staged::conflicts() == 0 && Config::group_threads / 32 * Staged::bytes <= Config::stage_bytes,
                "GemmSmall: C must fit into a stage, and its rows must not conflict on the banks");

  // The copies of a tile's A and B by one thread of a group.
  struct Copies {
    CopyA a;
    CopyB b;

    __device__ __forceinline__ Copies(const BatchedWork& work, int thread)
        : a(rows_of<TileA>(work.problem.a, work.problem.lda, work.problem.m, work.problem.k),
            work.tile.m * Block::m, thread),
          b(rows_of<TileB>(work.problem.b, work.problem.ldb, work.problem.n, work.problem.k),
            work.tile.n * Block::n, thread) {}

    __device__ __forceinline__ void start(std::uint32_t stage) const {
      if (a.whole() && b.whole()) {
        chunks<true>(stage);
      } else {
        chunks<false>(stage);
      }
    }

   private:
    template <class Tile>
    __device__ __forceinline__ static GlobalRows rows_of(const void* data, std::int64_t ld, int extent,
                                                         int k) {
      return {static_cast<const std::uint16_t*>(data), ld, Tile::k_major ? extent : k,
              Tile::k_major ? k : extent};
    }
    template <bool whole>
    __device__ __forceinline__ void chunks(std::uint32_t stage) const {
#pragma unroll
      for (int i = 0; i < CopyA::count; ++i) a.template copy<whole>(stage, i);
#pragma unroll
      for (int i = 0; i < CopyB::count; ++i) b.template copy<whole>(stage + TileA::bytes, i);
    }
  };

  // By the threads of a group, `thread` of Config::group_threads: computes the tiles first, first + step, and
  // so on. shared: the group's ring, Config::ring_bytes. synchronise(): of the group.
  template <class Op, class Synchronise>
  __device__ __forceinline__ static void run(const BatchedArguments& batch, const Op& op, int first, int step,
                                             std::uint32_t shared, int thread,
                                             const Synchronise& synchronise) {
    const int end = batch.count * batch.gemm.raster.tiles();
    const int warp = thread / 32, warp_row = warp % Config::warps_m * Config::Warp::m,
              warp_column = warp / Config::warps_m * Config::Warp::n;
    const typename Config::WalkA walk_a(warp_row);
    const typename Config::WalkB walk_b(warp_column);
    int reading = 0, writing = 0;
    // The first turns only fill the ring. One loop for both, because instructions are cold: two copies of the
    // code take longer to fetch than to execute.
    int index = first - (Config::stages - 1) * step;
#pragma unroll 1
    for (int copied = first; index < end; index += step, copied += step) {
      if (index >= first) Ring::wait_oldest(synchronise);
      if (copied < end) Copies(work_of(batch, copied), thread).start(shared + writing * Config::stage_bytes);
      Ring::commit();
      writing = after(writing);
      if (index < first) continue;

      const std::uint32_t a = shared + reading * Config::stage_bytes, b = a + TileA::bytes;
      reading = after(reading);
      typename Config::WarpAccumulator accumulators;
      accumulators.clear();
      accumulators.load_first(walk_a, walk_b, a, b);
      accumulators.template multiply_k_tile<Block::k, false>(
          walk_a, walk_b, a, b, 0, 0, [](int) {}, [] {});
      const BatchedWork now = work_of(batch, index);
      const Output& c = now.problem.c;
      const int row = now.tile.m * Block::m + warp_row, column = now.tile.n * Block::n + warp_column;
      if constexpr (std::is_same_v<Op, LinearCombination>) {
        if (op.beta == 0.0F && Staged::takes(c)) {
          synchronise();  // all warps of the group have read this stage: C takes its place
          Staged::store(c, op.alpha, accumulators, row, column,
                        a + static_cast<std::uint32_t>(warp) * Staged::bytes);
          continue;
        }
      }
      const StoreRegisters<Op> store(c, op);
      store(accumulators, row, column);
    }
  }

 private:
  __device__ __forceinline__ static int after(int stage) {
    return stage + 1 == Config::stages ? 0 : stage + 1;
  }
};

// Reads a word of every 64 bytes of a kernel's arguments. Their first reads miss the constant caches, which
// takes as long as a read of the L2: here it overlaps the end of the grid before.
template <class Arguments>
__device__ __forceinline__ void fetch_arguments(const Arguments& arguments) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(&arguments);
#pragma unroll
  for (std::size_t word = 0; word < sizeof(Arguments) / 4; word += 16) ptx::opaque_copy(words[word]);
}

// C = op(A * B) of each problem of a batch with k <= Config::Block::k. Launch it as plan_batched.hpp says.
// Groups of neighbouring CTAs take neighbouring tiles, so that all multiprocessors share the last ones.
template <class Config, Alignment alignment, class Op>
__global__ void __launch_bounds__(Config::threads, Config::resident)
    gemm_small(const __grid_constant__ BatchedArguments batch, const __grid_constant__ Op op) {
  extern __shared__ __align__(1024) std::uint8_t shared[];
  const int group = static_cast<int>(threadIdx.x) / Config::group_threads,
            thread = static_cast<int>(threadIdx.x) % Config::group_threads;
  const int first = group * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x),
            step = Config::groups * static_cast<int>(gridDim.x);
  const auto synchronise = [&] {
    if constexpr (Config::group_threads == 32) {
      __syncwarp();
    } else {
      ptx::bar_sync<Config::group_threads>(1 + group);  // 0 is __syncthreads()
    }
  };
  if constexpr (!Config::is_tiny) let_next_grid_begin();
  fetch_arguments(batch);
  wait_for_previous_grid();
  if constexpr (Config::is_tiny) let_next_grid_begin();
  GemmSmall<Config, alignment>::run(
      batch, op, first, step,
      ptx::shared_address(shared) + static_cast<std::uint32_t>(group) * Config::ring_bytes, thread,
      synchronise);
}

}  // namespace tenon
