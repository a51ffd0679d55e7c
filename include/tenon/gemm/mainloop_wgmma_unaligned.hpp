// The mainloop of the kernel for unaligned operands: wgmma reads A from shared memory, where all rows of a
// view have the same offset, and B from registers, where the consumers have shifted it
// (warp/shifted_rows.hpp). Below: realign.hpp, unaligned_tiles.hpp, warp/shifted_rows.hpp,
// warp/wgmma_accumulator.hpp.
#pragma once

#include "tenon/gemm/realign.hpp"
#include "tenon/gemm/unaligned_tiles.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/barrier.hpp"
#include "tenon/ptx/griddepcontrol.hpp"
#include "tenon/ptx/opaque.hpp"
#include "tenon/warp/shifted_rows.hpp"
#include "tenon/warp/wgmma_accumulator.hpp"

namespace tenon {

// Config: UnalignedConfig. Takes the named barrier `barrier`.
template <class Config>
class MainloopUnaligned {
  using Tiles = UnalignedTiles<Config>;
  using Block = typename Config::Block;
  using T = typename Config::T;
  using Fragment = FragmentA<WgmmaShape<Block::m, 16>, T>;
  using Rows = ShiftedRows<T>;
  static constexpr int steps = 4;  // of wgmma in a k-tile
  static_assert(Block::k == Rows::depth && Block::k == steps * 16,
                "MainloopUnaligned: k-tiles have 64 elements of k");

 public:
  using Accumulators = WgmmaAccumulator<float, Block::m>;
  using Ring = TmaRing<Config::stages>;
  static constexpr int barrier = 1;  // of the consumers

  // By all consumers: multiplies the k-tiles of a work tile. memory: address of the ring's stages in the
  // shared window. stage: the first stage to read; advanced to the last one, which release_last() releases.
  class Tile {
   public:
    __device__ __forceinline__ Tile(const UnalignedArguments& p, const UnalignedWorkTile& work,
                                    std::uint32_t memory, const Ring& ring, Stage<Config::stages>& stage,
                                    int rank)
        : memory_(memory), ring_(ring), stage_(stage), lane_(lane_id()), rows_(rows_of(p, work)) {
      if (work.is_first) ptx::griddepcontrol_wait();
      // A warp releases a stage in both CTAs or, where they share nothing, twice in this one.
      empty_ = ring.empty_in(work.tail_split ? rank : lane_ % Config::cluster);
      ptx::opaque(empty_);  // kept in a register: recomputation would delay the release
    }

    __device__ __forceinline__ void run(Accumulators& accumulators, const UnalignedArguments& p,
                                        const UnalignedWorkTile& work) {
      constexpr std::integral_constant<int, steps> whole{};
      constexpr std::integral_constant<int, 1> one{};
      const bool has_tile_before = work.k_begin > 0;
      ring_.wait_full(stage_);
      const Stage<Config::stages> tile_before = stage_;
      if (has_tile_before) {
        rows_.load_before(address(stage_));
        stage_ = stage_.next();
        ring_.wait_full(stage_);
      } else {
        clear_shifts(p, work, address(stage_));
      }
      rows_.load(address(stage_));
      multiply(accumulators, whole, false);
      if (has_tile_before) release(tile_before);
      // If the last k-tile holds at most a few elements, one step is enough for it.
      const int last = work.k_begin + work.k_count - 1;
      const bool ends_early = work.k_count > 1 && p.gemm.k + p.before + work.shift <= last * Block::k + 16;
#pragma unroll 1
      for (int left = work.k_count - (ends_early ? 2 : 1); left > 0; --left)
        multiply_next(accumulators, whole);
      if (ends_early) multiply_next(accumulators, one);
    }
    // After the last wgmma has completed.
    __device__ __forceinline__ void release_last() {
      release(stage_);
      stage_ = stage_.next();
    }

   private:
    __device__ __forceinline__ std::uint32_t address(Stage<Config::stages> stage) const {
      return memory_ + static_cast<std::uint32_t>(stage.index * Tiles::stage_bytes);
    }
    __device__ __forceinline__ void release(Stage<Config::stages> stage) const {
      if (lane_ < Config::cluster) ring_.release_at(stage, empty_);
    }
    // Adds the products of the first `count` steps of the k-tile that was loaded.
    template <class Count>
    __device__ __forceinline__ void multiply(Accumulators& accumulators, Count, bool add) {
      rows_.shift(b_);
      accumulators.fence(b_[0], b_[1], b_[2], b_[3]);
      using TileA = typename Tiles::TileA;
      const OperandDescriptor<TileA> a(TileA{address(stage_) + Tiles::b_bytes}, 0);
#pragma unroll
      for (int i = 0; i < Count::value; ++i)
        accumulators.template multiply<T, T>(b_[i], a.at(i), add || i > 0);
      accumulators.commit();
      __syncwarp();  // all lanes have read the k-tile, before one of them releases it
    }
    // While one warpgroup shifts, the other one multiplies. A second set of fragments, to shift ahead, was no
    // faster.
    template <class Count>
    __device__ __forceinline__ void multiply_next(Accumulators& accumulators, Count count) {
      const Stage<Config::stages> previous = stage_;
      stage_ = stage_.next();
      ring_.wait_full(stage_);
      rows_.load(address(stage_));
      accumulators.template wait_for_operands<0>();
      release(previous);
      multiply(accumulators, count, true);
    }

    std::uint32_t memory_;
    const Ring& ring_;
    Stage<Config::stages>& stage_;
    int lane_;
    Rows rows_;
    std::uint32_t empty_;
    Fragment b_[steps];
  };

 private:
  // By all consumers, for a work tile's first k-tile: rows begin with elements that belong to the rows before
  // them, which are overwritten with zeros. (If another k-tile is loaded before, those elements are in that
  // one.)
  __device__ __forceinline__ static void clear_shifts(const UnalignedArguments& p,
                                                      const UnalignedWorkTile& work, std::uint32_t b) {
    const int thread = static_cast<int>(threadIdx.x);
    const auto address = [](int row, int c) {
      return static_cast<std::uint32_t>(row * 128 + swizzled_chunk<128>(row, c) * 16);
    };
    for (int row = thread; row < Block::m; row += 32 * Tiles::consumer_warps)
      clear_elements(b + Tiles::b_bytes + address(row, 1), work.shift);
    if (thread < Block::n) {
      const int view = thread / Tiles::box_rows_b, shift = Tiles::shift_of_b(p, view);
      const int row = thread % Tiles::box_rows_b + view * (Tiles::view_bytes / 128);
      clear_elements(b + address(row, Tiles::begins_later(shift, work.shift) ? 0 : 1), shift);
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncwarp();  // lanes have diverged, and bar.sync needs whole warps
    ptx::bar_sync<32 * Tiles::consumer_warps>(barrier);
  }

  // Rows g and g + 8 of a warp's accumulators are adjacent rows of B, from two views. So all rows that the
  // lanes read at once have the same shift, and if ldb is odd each warp has one odd and one even shift.
  __device__ __forceinline__ static Rows rows_of(const UnalignedArguments& p, const UnalignedWorkTile& work) {
    const int warp = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0);
    const int row = warp / 4 * 8 + lane_id() / 4;  // in its view
    int offset[2], shift[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int view = warp % 4 * 2 + h;
      offset[h] = view * Tiles::view_bytes + row * 128;
      shift[h] = (Tiles::shift_of_b(p, view) - work.shift) & 7;
    }
    return {offset, shift};
  }
};

}  // namespace tenon
