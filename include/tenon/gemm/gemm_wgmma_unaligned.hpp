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
// A ring of slabs, a warp that copies and two warpgroups that multiply, as in gemm_wgmma.hpp; three more
// warps carry the last rows of a tile to C, while the next one is multiplied. The two blocks of a cluster
// stand along n and share the slabs of A, or along m and share those of B; where the last tiles are few, both
// compute half of the k of one. With A and B in each other's places (UnalignedConfig) the sums are C
// (StoreEighths). Below: store_turned.hpp, store_eighths.hpp, cluster_halves.hpp, drop_elements.hpp,
// arguments.hpp, warp/shifted_rows.hpp, warp/wgmma_accumulator.hpp, pipeline/tma_ring.hpp,
// ptx/setmaxnreg.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/cluster_halves.hpp"
#include "tenon/gemm/config.hpp"
#include "tenon/gemm/drop_elements.hpp"
#include "tenon/gemm/store_eighths.hpp"
#include "tenon/gemm/store_turned.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/setmaxnreg.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/warp/shifted_rows.hpp"
#include "tenon/warp/wgmma_accumulator.hpp"

// Clusters are said in the kernel's declaration, which no assertion can stand before.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#error \
    "tenon/gemm/gemm_wgmma_unaligned.hpp needs sm_90a: compile what includes it with -gencode arch=compute_90a,code=sm_90a alone"
#endif

namespace tenon {

// T_: __half or __nv_bfloat16. M: rows of C in a tile, what wgmma has as n. Stages: slabs of 64 of k in
// flight. Turned_: A and B have each other's places, and so have m and n, for an A that lies anywhere beside
// a B whose rows are aligned. The sums, the transpose of that product, are then C.
template <class T_, int M, int Stages, bool Turned_ = false>
struct UnalignedConfig {
  static_assert(sizeof(T_) == 2, "UnalignedConfig: elements must have 16 bits; 8 lines of them lie equally");
  static_assert(Stages >= 2, "UnalignedConfig: a slab is copied while another one is multiplied");
  using T = T_;
  using TB = T_;
  using Acc = float;
  using Block = TileShape<M, 128, 64>;
  using Warp = TileShape<M, 64, 0>;  // of a warpgroup
  static constexpr int stages = Stages;
  static constexpr bool turned = Turned_;
  static constexpr Order a_order = Order::row_major, b_order = Order::column_major;
  static constexpr int cluster = 2;  // blocks, along n or m
};

// Which lines of A make the rows of a tile: those of one eighth, or (rows_apart 1) neighbours. Tiles go
// through all eighths of 8 M rows first.
//
// Slabs begin some elements before the lines of A: 8, so that B can be shifted both ways. Where that tears
// every line of a box in two lines of the L2, which takes the copy engine longer, they begin a whole slab
// before; of that one only B is copied, and nothing multiplied.
struct UnalignedArguments {
  GemmArguments gemm;
  int rows_apart;  // 8 or, always if turned, 1: then every map of A is that of all its lines
  int before;      // 8, or 64 if all lines of A begin on multiples of 16 bytes
  // Not 0, with rows_apart 1 alone: the blocks of a cluster stand along m and share B, not along n and A.
  int shares_b;
};

// Launch with `threads`, shared_bytes of dynamic shared memory and clusters of Config::cluster, at most as
// many as the device runs at once. map_a and map_b: 128-byte swizzle, boxes of box_lines_a() and box_lines_b
// x 64.
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
  static constexpr int warps = 8;     // that multiply
  static constexpr int carriers = 3;  // warps that carry
  static constexpr int threads = 32 * (warps + 1 + carriers);
  static constexpr int depth = Block::k, steps = 4;  // of wgmma in a slab
  static_assert(depth == Rows::depth && depth == steps * 16, "GemmUnaligned: slabs have 64 elements of k");

  static constexpr int boxes_b = 8, box_lines_b = Block::n / boxes_b;
  // Each block copies a half of what both share.
  static constexpr int box_lines_a(bool shares_b) { return shares_b ? Block::m : Block::m / cluster; }
  static constexpr int eighth_bytes = box_lines_b * 128;
  static constexpr int b_bytes = 8 * eighth_bytes;
  static constexpr int stage_bytes = b_bytes + TileA::bytes;
  static constexpr int copied_bytes = Block::n * 128 + TileA::bytes;
  static_assert(b_bytes % 1024 == 0, "GemmUnaligned: A must start on a multiple of 1024 bytes");

  // Shared memory, from a multiple of 1024 bytes on: the ring, the lines of C, the barriers.
  static constexpr int alignment = 1024;
  static constexpr int staging_at = stages * stage_bytes;
  static constexpr Type fast = std::is_same_v<T, __half> ? Type::f16 : Type::bf16;
  template <class Op>
  using Store = std::conditional_t<Config::turned, StoreEighths<Op, fast>, StoreTurned<Op, fast>>;
  using Halves = ClusterHalves<Block::m, Store<LinearCombination>>;
  static_assert(Halves::received_bytes <= staging_at,
                "GemmUnaligned: the ring must have room for half of the sums");
  static constexpr int barriers_at = staging_at + Store<LinearCombination>::bytes;
  // Rows of C on their way from the warps that multiply to those that carry: of one tile at a time.
  using Handover = TmaRing<1>;
  static constexpr int shared_bytes = barriers_at + Ring::bytes + Halves::bytes + Handover::bytes + alignment;
  static_assert(shared_bytes <= most_shared_bytes,
                "GemmUnaligned: ring and lines are larger than the shared memory of a block, 227 KB: fewer "
                "stages");

  // 64512 registers: 128 threads x 40 + 256 threads x 232.
  static constexpr int copying_registers = 40, multiplying_registers = 232;

  // By all threads of the block, which has one dimension, once a kernel: the barriers in `shared` serve one
  // call. Takes the named barrier 1. op: what an epilogue's operation is, epilogue.hpp.
  template <class Op>
  __device__ __forceinline__ static void run(const TensorMapsOfEighths& map_a,
                                             const TensorMapsOfEighths& map_b, const UnalignedArguments& p,
                                             std::uint8_t* shared, const Op& op) {
    const std::uint32_t misaligned = ptx::shared_address(shared) % alignment;
    std::uint8_t* const memory = shared + (misaligned == 0 ? 0 : alignment - misaligned);
    const Ring ring(reinterpret_cast<std::uint64_t*>(memory + barriers_at));
    const Halves halves(ptx::shared_address(memory),
                        reinterpret_cast<std::uint64_t*>(memory + barriers_at + Ring::bytes), rank());
    const Handover handover(
        reinterpret_cast<std::uint64_t*>(memory + barriers_at + Ring::bytes + Halves::bytes));
    if (works_for_warp(warps)) {
      for (int i = 0; i < 8; ++i) prefetch_map(map_b.of[i]);
    }
    // A stage is free when every warp of both blocks says so: each writes to both.
    if (works_for_warp(0)) {
      ring.initialize(cluster * warps);
      halves.initialize();
      handover.initialize(32 * carriers, 32 * warps);  // all threads, each for what it wrote or read
    }
    cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_relaxed);  // orders the barriers, which is enough
    cuda::ptx::barrier_cluster_wait();
    // The next kernel may begin. What it does before it waits for this one overlaps the end of it: whose
    // slabs come first, and where. Not so behind a copy of A, where that was no faster in a burst and slower
    // after.
    cudaTriggerProgrammaticLaunchCompletion();
    if (p.before == depth) cudaGridDependencySynchronize();
    // From lane 0, by which ptxas knows that a warp has one number.
    const int warp = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0);
    const std::uint32_t base = ptx::shared_address(memory);
    const Store<Op> store(p.gemm.c, op, base + staging_at, barrier);
    if (warp >= warps) {
      ptx::setmaxnreg_dec_sync_aligned_u32<copying_registers>();
      if (warp > warps) {
        if (store.template leaves_last<Block::m>()) carry_all(p, handover, store, warp - warps - 1);
      } else if (ptx::elect_sync(0xffffffffU)) {
        copy_all(map_a, map_b, p, memory, ring);
      }
      // Other threads do not wait for the one that copies: it would compute where the copies go in its own
      // registers, not in uniform ones, and start fewer than the copy engine takes.
    } else {
      ptx::setmaxnreg_inc_sync_aligned_u32<multiplying_registers>();
      multiply_all(p, base, ring, halves, handover, store);
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

  static constexpr int chunk = 8;  // elements
  // Of k, from `before` elements before the lines of A on. Lines that begin further right end up to 7 after
  // k.
  __device__ __forceinline__ static int slabs_of(const UnalignedArguments& p) {
    return (p.gemm.k - 1 + p.before + (p.before == depth ? 0 : chunk - 1)) / depth + 1;
  }

  // What a block computes next: a tile or, paired with the other block of its cluster, half of the k of one.
  struct Work {
    int eighth, line;  // of A, and the tile's first line in it
    int column;
    int shift;  // of the lines of A
    bool paired;
    bool is_first, is_last;  // of this block
    // Slabs that are multiplied, `count` of them from `first` on. Before the first one, unless that is 0,
    // there is another one, of which B alone is copied.
    int first, count;
  };
  __device__ __forceinline__ static Work work_at(int index, const UnalignedArguments& p) {
    const int beyond = index - p.gemm.undivided;
    const bool paired = beyond >= 0;
    const TilePosition at = p.gemm.raster.at(paired ? p.gemm.undivided + beyond / cluster : index);
    // Of a paired tile both blocks take the same one of the cluster's two.
    const int member = paired ? beyond % cluster : rank();
    const int row = p.shares_b ? at.m * cluster + member : at.m;
    const int column = p.shares_b ? at.n : at.n * cluster + member, eighth = row & (p.rows_apart - 1);
    const int end = slabs_of(p), begin = p.before == depth ? 1 : 0, half = (end - begin + 1) / 2;
    const int first = begin + (paired ? rank() * half : 0);
    return {eighth,
            (p.rows_apart == 8 ? row / 8 : row) * Block::m,
            column * Block::n,
            shift_of(p.gemm.a, p.gemm.lda, eighth),
            paired,
            index == first_index(),
            index + clusters() >= end_index(p),
            first,
            paired && rank() == 0 ? half : end - first};
  }
  __device__ __forceinline__ static int first_index() { return static_cast<int>(blockIdx.x) / cluster; }
  __device__ __forceinline__ static int clusters() { return static_cast<int>(gridDim.x) / cluster; }
  // What the raster has from `undivided` on comes last, a tile for each cluster at most.
  __device__ __forceinline__ static int end_index(const UnalignedArguments& p) {
    return p.gemm.undivided + (p.gemm.raster.tiles() - p.gemm.undivided) * cluster;
  }
  template <class F>
  __device__ __forceinline__ static void for_each_work(const UnalignedArguments& p, F&& f) {
    const int end = end_index(p);
    for (int index = first_index(); index < end; index += clusters()) f(work_at(index, p));
  }
  // From line number `line` of the tile on.
  __device__ __forceinline__ static LinesOfC lines_of(const UnalignedArguments& p, const Work& work,
                                                      int line) {
    return {(work.line + line) * p.rows_apart + work.eighth, p.rows_apart, work.column};
  }

  // B begins with A or, where its lines lie further right than those of A, a chunk later: then what is left
  // to shift is 0 to 7.
  __device__ __forceinline__ static bool begins_later(int shift_b, int shift_a) { return shift_b >= shift_a; }

  // One thread: the slabs of all tiles, as far ahead as the ring allows.
  __device__ __forceinline__ static void copy_all(const TensorMapsOfEighths& map_a,
                                                  const TensorMapsOfEighths& map_b,
                                                  const UnalignedArguments& p, std::uint8_t* memory,
                                                  const Ring& ring) {
    Stage<stages> stage;
    for_each_work(p, [&](const Work& work) {
      unsigned later = 0;  // eighths of B that begin so
#pragma unroll 1
      for (int i = 0; i < boxes_b; ++i) later |= (begins_later(shift_of_b(p, i), work.shift) ? 1U : 0U) << i;
      if (work.is_first) cudaGridDependencySynchronize();
      const bool shares_b = !work.paired && p.shares_b != 0;
      const int end = work.first + work.count;
#pragma unroll 1
      for (int slab = work.first > 0 ? work.first - 1 : 0; slab < end; ++slab) {
        const bool has_a = slab >= work.first;
        ring.wait_empty(stage);
        ring.expect(stage, has_a ? copied_bytes : copied_bytes - TileA::bytes);
        std::uint8_t* const b = memory + stage.index * stage_bytes;
        std::uint64_t* const barrier = ring.full_barrier(stage);
        const int k = slab * depth - p.before;
        const auto copy_a = [&](auto to, int i) {
          const int line = i * (Block::m / cluster);
          copy(to, b + b_bytes + line * 128, map_a.of[work.eighth], work.line + line, k, barrier);
        };
        const auto copy_b = [&](auto to, int i) {
          copy(to, b + i * eighth_bytes, map_b.of[i], work.column / 8,
               k + static_cast<int>(later >> i & 1U) * chunk, barrier);
        };
        const auto all_of_a = [&] {
          if (p.shares_b != 0) {
            copy_a(this_block, 0);
          } else if (work.paired) {
            for (int i = 0; i < cluster; ++i) copy_a(this_block, i);
          } else {
            copy_a(both_blocks, rank());
          }
        };
        // First what is shared: both blocks wait for it. And no branch for each box: where lines of both
        // operands lie in two of the L2, a thread can just start as many boxes as the copy engine takes.
        if (has_a && p.shares_b == 0) all_of_a();
        if (shares_b) {
          const int first = rank() * (boxes_b / cluster);
#pragma unroll 1
          for (int i = first; i < first + boxes_b / cluster; ++i) copy_b(both_blocks, i);
        } else {
#pragma unroll 1
          for (int i = 0; i < boxes_b; ++i) copy_b(this_block, i);
        }
        if (has_a && p.shares_b != 0) all_of_a();
        stage = stage.next();
      }
    });
    ring.drain(stage);
  }
  static constexpr std::false_type this_block{};
  static constexpr std::true_type both_blocks{};
  __device__ __forceinline__ static void copy(std::false_type, std::uint8_t* to, const TensorMap& map,
                                              int line, int column, std::uint64_t* barrier) {
    copy_box(to, map, line, column, barrier);
  }
  __device__ __forceinline__ static void copy(std::true_type, std::uint8_t* to, const TensorMap& map,
                                              int line, int column, std::uint64_t* barrier) {
    copy_box_to_cluster(to, map, line, column, barrier, static_cast<std::uint16_t>((1U << cluster) - 1));
  }

  // By warp number `carrier` of those that carry.
  template <class Store>
  __device__ __forceinline__ static void carry_all(const UnalignedArguments& p, const Handover& handover,
                                                   const Store& store, int carrier) {
    Stage<1> tile;
    for_each_work(p, [&](const Work& work) {
      if (work.is_last) return;
      if (work.is_first) cudaGridDependencySynchronize();
      handover.wait_full(tile);
      store.template last_rows<Block::m>(lines_of(p, work, 0), carrier, carriers);
      handover.release(tile);
      tile = tile.next();
    });
  }

  // By all threads that multiply, of a tile's first slab: lines begin with the end of the lines before them;
  // zeros instead. Where there is a slab before, that is where those ends are.
  __device__ __forceinline__ static void clear_shifts(const UnalignedArguments& p, const Work& work,
                                                      std::uint32_t b) {
    const int thread = static_cast<int>(threadIdx.x);
    const auto address = [](int line, int c) {
      return static_cast<std::uint32_t>(line * 128 + swizzled_chunk<128>(line, c) * 16);
    };
    for (int line = thread; line < Block::m; line += 32 * warps)
      clear_elements(b + b_bytes + address(line, 1), work.shift);
    if (thread < Block::n) {
      const int eighth = thread / box_lines_b, shift = shift_of_b(p, eighth);
      const int line = thread % box_lines_b + eighth * (eighth_bytes / 128);
      clear_elements(b + address(line, begins_later(shift, work.shift) ? 0 : 1), shift);
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    asm volatile("bar.sync %0, %1;" ::"n"(barrier), "n"(32 * warps) : "memory");
  }

  // Rows g and g + 8 of the sums of a warp are neighbours, of two eighths of B: see StoreTurned. So all rows
  // that lanes read at once have one shift, and where ldb is odd each warp has an odd one and an even one.
  __device__ __forceinline__ static Rows rows_of(const UnalignedArguments& p, const Work& work) {
    const int warp = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0);
    const int line = warp / 4 * 8 + lane_id() / 4;  // in its eighth
    int offset[2], shift[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int eighth = warp % 4 * 2 + h;
      offset[h] = eighth * eighth_bytes + line * 128;
      shift[h] = (shift_of_b(p, eighth) - work.shift) & 7;
    }
    return {offset, shift};
  }

  template <class Store>
  __device__ __forceinline__ static void multiply_all(const UnalignedArguments& p, std::uint32_t memory,
                                                      const Ring& ring, const Halves& halves,
                                                      const Handover& handover, const Store& store) {
    const int lane = lane_id();
    const auto slab_at = [&](Stage<stages> stage) {
      return memory + static_cast<std::uint32_t>(stage.index * stage_bytes);
    };
    Sums sums;
    Stage<stages> stage;
    Stage<1> tile;  // that is handed over
    for_each_work(p, [&](const Work& work) {
      Rows rows = rows_of(p, work);
      if (work.is_first) cudaGridDependencySynchronize();
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
      // Both blocks are told, or where they share nothing this one as often.
      std::uint32_t told = ring.empty_in(work.paired ? rank() : lane % cluster);
      asm volatile("" : "+r"(told));  // kept: computed again it would come late
      const auto release = [&](Stage<stages> of) {
        if (lane < cluster) ring.release_at(of, told);
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
      const bool has_slab_before = work.first > 0;
      ring.wait_full(stage);
      const Stage<stages> slab_before = stage;
      if (has_slab_before) {
        rows.load_before(slab_at(stage));
        stage = stage.next();
        ring.wait_full(stage);
      } else {
        clear_shifts(p, work, slab_at(stage));
      }
      rows.load(slab_at(stage));
      multiply(whole, false);
      if (has_slab_before) release(slab_before);
      // Of a last slab that holds a few elements, or none, one step.
      const int last = work.first + work.count - 1;
      const bool ends_early = work.count > 1 && p.gemm.k + p.before + work.shift <= last * depth + 16;
#pragma unroll 1
      for (int left = work.count - (ends_early ? 2 : 1); left > 0; --left) multiply_next(whole);
      if (ends_early) multiply_next(one);
      sums.when_done([&](auto& values) {
        release(stage);
        stage = stage.next();
        handover.wait_empty(tile);  // the rows of the tile before have been carried
        if (work.paired) {
          constexpr int half = Block::m / 2;
          auto sums_of_both = halves.exchange(values);
          store.template rows<half>(sums_of_both, lines_of(p, work, rank() * half), false,
                                    [&](int part) { sums_of_both.receive(part); });
        } else {
          store.template rows<Block::m>(values, lines_of(p, work, 0), !work.is_last, [](int) {});
          if (!work.is_last && store.template leaves_last<Block::m>()) {
            handover.arrive(tile);
            tile = tile.next();
          }
        }
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
