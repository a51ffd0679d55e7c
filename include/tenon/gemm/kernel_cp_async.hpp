// The pipelined GEMM of sm_80: one CTA computes one tile of C, through a cp.async ring in swizzled shared
// memory.
//
// Each iteration multiplies one k-tile (Block::k of k) while the copies of Stages - 1 later k-tiles are in
// flight. All warps both copy and multiply: the copies of a k-tile are spread over the k-steps of another, so
// that their address arithmetic hides behind the tensor cores. Below: config.hpp, producer_cp_async.hpp,
// store_tile_combination.hpp, pipeline/cp_async_ring.hpp.
#pragma once

#include "tenon/ptx/needs_sm_80.hpp"

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/config.hpp"
#include "tenon/gemm/fused_epilogue.hpp"
#include "tenon/gemm/producer_cp_async.hpp"
#include "tenon/gemm/store_registers.hpp"
#include "tenon/gemm/store_tile_combination.hpp"
#include "tenon/pipeline/cp_async_ring.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/warp/warp_tile_buffered.hpp"

namespace tenon {

// Config: GemmConfig with 2 to 5 stages. Launch with threads, shared_bytes of dynamic shared memory and one
// CTA a tile (plan_sm80.hpp).
template <class Config, Alignment alignment>
struct GemmCpAsync {
  static_assert(Config::stages >= 2 && Config::stages <= 5, "GemmCpAsync: the ring has 2 to 5 stages");
  static constexpr int threads = 32 * Config::warps;
  static constexpr int shared_bytes = Config::ring_bytes;
  static constexpr int accumulator_words =
      Config::Block::m * Config::Block::n * (Element<typename Config::Acc>::bits == 64 ? 2 : 1);
  static constexpr int resident = accumulator_words > 128 * 128 ? 1 : 2;
  static_assert(
      shared_bytes <= most_shared_bytes,
      "GemmCpAsync: the ring is larger than the shared memory of any CTA, 227 KB: take fewer stages");

  // Whether the k-tiles whose copies need no bounds checks have a loop of their own: no branch, and the
  // copies spread over the rows of fragments instead of over the steps along k. At 4096 cubed on an H200 s8
  // gains 1 to 5 %, tf32 4 %, f64 4 %, f16 6 %. The many small tiles of 16-bit types, for which it doubles
  // the code, do without.
  static constexpr bool wide_type = Element<typename Config::T>::bits != 16;
  static constexpr bool peels_whole_copies = wide_type || resident == 1;
  // Whether whole k-steps of fragments are buffered (warp_tile_buffered.hpp): s8 gains 5 %, tf32 2 %, f16
  // 3 %. Fragments of f64 are too large for it, and those of fp8, which are converted in registers on 9.0.
  static constexpr bool floats_of_8_bits =
      Element<typename Config::T>::bits == 8 && Element<typename Config::T>::number == Number::floating;
  static constexpr bool buffers_steps =
      peels_whole_copies && Element<typename Config::T>::bits != 64 && !floats_of_8_bits;
  // Whether C is stored through shared memory where it has 32 bits.
  static constexpr bool stores_wide_rows = buffers_steps && wide_type;
  using WarpAccumulator =
      std::conditional_t<buffers_steps,
                         WarpTileBuffered<typename Config::Multiplied, typename Config::Acc, Config::Warp::m,
                                          Config::Warp::n, typename Config::MultipliedB>,
                         typename Config::WarpAccumulator>;

  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  using CopyA = ProducerCpAsync<TileA, threads, alignment>;
  using CopyB = ProducerCpAsync<TileB, threads, alignment>;
  static_assert(CopyA::conflicts() == 0 && CopyB::conflicts() == 0,
                "GemmCpAsync: the copies would conflict on the banks of shared memory");

  // See StoreRows. Kernels for operands of any alignment have only 128 registers a thread, and kernels that
  // round f32 during the load keep more values: both would spill with 4.
  static constexpr int rows_at_a_time =
      alignment == Alignment::full_16 && !MultipliedType<typename Config::T>::is_rounded ? 4 : 2;
  // How the accumulators leave.
  template <class Op, class = void>
  struct StoreOf {
    using Loaded = LoadedOperation<Op>;
    using Operation = typename Loaded::type;
    __device__ __forceinline__ static auto make(const Output& c, const Op& op, const void* shared) {
      if constexpr (std::is_same_v<Operation, LinearCombination> &&
                    std::is_same_v<typename WarpAccumulator::Value, float> &&
                    Config::warps * StoreRows<CombinationRows>::bytes_of_warp <= Config::ring_bytes) {
        return StoreTileCombination<stores_wide_rows, rows_at_a_time>(c, Loaded::of(op), shared);
      } else {
        return std::conditional_t<stores_wide_rows, StoreWideRows<Operation>, StoreRegisters<Operation>>(
            c, Loaded::of(op), shared);
      }
    }
  };
  template <class Unused>
  struct StoreOf<FusedEpilogue, Unused> {
    static_assert(Config::warps * StoreRows<FusedEpilogue>::bytes_of_warp <= Config::ring_bytes,
                  "GemmCpAsync: the ring has less memory than FusedEpilogue needs for each warp");
    __device__ __forceinline__ static StoreTileRows<FusedEpilogue> make(const Output& d,
                                                                        const FusedEpilogue& op,
                                                                        const void* shared) {
      return {d, op, shared};
    }
  };

  // Called by all threads of a one-dimensional CTA. k >= 1. shared: shared_bytes, aligned to 1024 bytes.
  // Other warps may still read it when this returns or the epilogue runs: call __syncthreads() before you use
  // it again. epilogue: for example StoreRegisters; whole warps call epilogue(warp_tile, row, column) with
  // the position of the warp tile's first element in C.
  template <class Epilogue>
  __device__ __forceinline__ static void run(const GemmArguments& arguments, TilePosition tile, void* shared,
                                             const Epilogue& epilogue) {
    constexpr int depth = Config::Block::k,
                  steps = depth / WarpAccumulator::Shape::k - WarpAccumulator::steps_after_wait;
    const int m = arguments.m, n = arguments.n, k = arguments.k;
    const int cta_row = tile.m * Config::Block::m, cta_column = tile.n * Config::Block::n;
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    const std::uint32_t ring_base = ptx::shared_address(shared);
    const auto stage_a = [=](int stage) { return ring_base + stage * Config::stage_bytes; };
    const auto stage_b = [=](int stage) { return ring_base + stage * Config::stage_bytes + TileA::bytes; };

    const GlobalRows a{arguments.a, arguments.lda, TileA::k_major ? m : k, TileA::k_major ? k : m};
    const GlobalRows b{arguments.b, arguments.ldb, TileB::k_major ? n : k, TileB::k_major ? k : n};
    CopyA copy_a(a, cta_row, thread);
    CopyB copy_b(b, cta_column, thread);
    const int k_tiles = k / depth + (k % depth != 0);
    using Ring = CpAsyncRing<Config::stages>;

    // This thread's chunks of the next k-tile are copied in `of` shares of about the same size. copy_chunks()
    // copies share number `step`; whole: std::true_type if the k-tile needs no bounds checks. copy_share()
    // does so for any k-tile, and copies nothing after the last one. Its last share commits the group, even
    // an empty one (CpAsyncRing), and advances to the next k-tile.
    int left_to_copy = k_tiles;
    const auto copy_chunks = [&](auto whole, int stage, int step, int of) {
#pragma unroll
      for (int i = step * CopyA::count / of; i < (step + 1) * CopyA::count / of; ++i) {
        copy_a.template copy<decltype(whole)::value>(stage_a(stage), i);
      }
#pragma unroll
      for (int i = step * CopyB::count / of; i < (step + 1) * CopyB::count / of; ++i) {
        copy_b.template copy<decltype(whole)::value>(stage_b(stage), i);
      }
    };
    const auto end_copies = [&] {
      Ring::commit();
      copy_a.advance();
      copy_b.advance();
    };
    const auto copy_share = [&](int stage, int step, int of) {
      if (left_to_copy > 0) {
        if (copy_a.whole() && copy_b.whole()) {
          copy_chunks(std::true_type{}, stage, step, of);
        } else {
          copy_chunks(std::false_type{}, stage, step, of);
        }
      }
      if (step + 1 < of) return;
      end_copies();
      --left_to_copy;
    };
    // The prologue fills all stages but one.
#pragma unroll
    for (int stage = 0; stage < Config::stages - 1; ++stage) copy_share(stage, 0, 1);

    const int warp_row = warp % Config::warps_m * Config::Warp::m,
              warp_column = warp / Config::warps_m * Config::Warp::n;
    const typename Config::WalkA walk_a(warp_row);
    const typename Config::WalkB walk_b(warp_column);
    WarpAccumulator accumulators;
    accumulators.clear();

    Ring::wait_oldest();
    accumulators.load_first(walk_a, walk_b, stage_a(0), stage_b(0));
    Stage<Config::stages> reading;
    int writing = Config::stages - 1;
    // Each turn multiplies the k-tile in `reading`, copies a later one into `writing`, and loads the first
    // fragments of the next one at its end.
    int k_tile = 1;
    if constexpr (peels_whole_copies) {
      constexpr int rows = WarpAccumulator::rows, shares = steps * rows;
      const int last = k_tile + min(copy_a.whole_tiles(), copy_b.whole_tiles());
      left_to_copy -= last - k_tile;
#pragma unroll 1
      for (; k_tile < last; ++k_tile) {
        const Stage<Config::stages> next = reading.next();
        accumulators.template multiply_k_tile<depth, true>(
            walk_a, walk_b, stage_a(reading.index), stage_b(reading.index), stage_a(next.index),
            stage_b(next.index),
            [&](int step, int row) {
              if (step >= steps) return;
              copy_chunks(std::true_type{}, writing, step * rows + row, shares);
              if (step * rows + row + 1 == shares) end_copies();
            },
            [] { Ring::wait_oldest(); });
        writing = reading.index;
        reading = next;
      }
    }
#pragma unroll 1
    for (; k_tile < k_tiles; ++k_tile) {
      const Stage<Config::stages> next = reading.next();
      accumulators.template multiply_k_tile<depth, true>(
          walk_a, walk_b, stage_a(reading.index), stage_b(reading.index), stage_a(next.index),
          stage_b(next.index),
          [&](int step) {
            if (step < steps) copy_share(writing, step, steps);
          },
          [] { Ring::wait_oldest(); });
      // wait_oldest() has synchronised all warps after their last load from this stage: the next turn's
      // copies may overwrite it.
      writing = reading.index;
      reading = next;
    }
    // The last k-tile: there is no next one to load from.
    accumulators.template multiply_k_tile<depth, false>(
        walk_a, walk_b, stage_a(reading.index), stage_b(reading.index), 0, 0, [](int) {}, [] {});
    epilogue(accumulators, cta_row + warp_row, cta_column + warp_column);
  }
};

// C = op(A * B). Launch it as plan_sm80.hpp says. Op: see epilogue.hpp. With tiles of up to 128 x
// 128 (f64: 128 x 64), the launch bounds limit the registers so that two CTAs fit on a multiprocessor.
template <class Config, Alignment alignment, class Op>
__global__ void __launch_bounds__(GemmCpAsync<Config, alignment>::threads,
                                  GemmCpAsync<Config, alignment>::resident)
    gemm_cp_async(const __grid_constant__ GemmArguments arguments, const __grid_constant__ Op op) {
  extern __shared__ __align__(1024) std::uint8_t shared[];
  const TilePosition tile = arguments.raster.at(static_cast<int>(blockIdx.x));
  using Gemm = GemmCpAsync<Config, alignment>;
  Gemm::run(arguments, tile, shared, Gemm::template StoreOf<Op>::make(arguments.c, op, shared));
}

}  // namespace tenon
