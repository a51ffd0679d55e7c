// The producer of the kernel for unaligned operands: one thread loads the k-tiles of row-interleaved
// (stride-8) views of A and B, as far ahead as the ring allows. Below: unaligned_tiles.hpp,
// pipeline/tma_ring.hpp.
#pragma once

#include "tenon/gemm/unaligned_tiles.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/ptx/griddepcontrol.hpp"

namespace tenon {

// Config: UnalignedConfig. map_a, map_b: 128-byte swizzle, boxes of box_rows_a() and box_rows_b x 64.
template <class Config>
class ProducerUnaligned {
  using Tiles = UnalignedTiles<Config>;
  using Block = typename Config::Block;
  static constexpr int chunk = 8;  // elements

 public:
  using Ring = TmaRing<Config::stages>;

  // By one thread. memory: the ring's stages. rank: of this CTA in its cluster.
  __device__ __forceinline__ static void run(const RowInterleavedMaps& map_a, const RowInterleavedMaps& map_b,
                                             const UnalignedArguments& p,
                                             const UnalignedTileScheduler<Config>& scheduler, int rank,
                                             std::uint8_t* memory, const Ring& ring) {
    Stage<Config::stages> stage;
    for_each_work(scheduler, 0, 1, [&](int index) {
      const UnalignedWorkTile work = scheduler.at(index);
      unsigned later = 0;  // bit i: rows of view i of B begin later
#pragma unroll 1
      for (int i = 0; i < Tiles::boxes_b; ++i)
        later |= (Tiles::begins_later(Tiles::shift_of_b(p, i), work.shift) ? 1U : 0U) << i;
      if (work.is_first) ptx::griddepcontrol_wait();
      const bool shares_b = !work.tail_split && p.shares_b != 0;
      const int end = work.k_begin + work.k_count;
#pragma unroll 1
      for (int k_tile = work.k_begin > 0 ? work.k_begin - 1 : 0; k_tile < end; ++k_tile) {
        const bool has_a = k_tile >= work.k_begin;
        ring.wait_empty(stage);
        ring.expect(stage, has_a ? Tiles::loaded_bytes : Tiles::loaded_bytes - Tiles::TileA::bytes);
        std::uint8_t* const b = memory + stage.index * Tiles::stage_bytes;
        std::uint64_t* const barrier = ring.full_barrier(stage);
        const int k = k_tile * Block::k - p.before;
        const auto load_box_a = [&](auto to, int i) {
          const int row = i * (Block::m / Config::cluster);
          load(to, b + Tiles::b_bytes + row * 128, map_a.view[work.view], work.row + row, k, barrier);
        };
        const auto load_box_b = [&](auto to, int i) {
          load(to, b + i * Tiles::view_bytes, map_b.view[i], work.column / 8,
               k + static_cast<int>(later >> i & 1U) * chunk, barrier);
        };
        const auto load_a = [&] {
          if (p.shares_b != 0) {
            load_box_a(this_cta, 0);
          } else if (work.tail_split) {
            for (int i = 0; i < Config::cluster; ++i) load_box_a(this_cta, i);
          } else {
            load_box_a(both_ctas, rank);
          }
        };
        // The shared operand first: both CTAs wait for it. No branch for each box: where rows of both
        // operands cross sectors, one thread can barely start boxes as fast as TMA processes them.
        if (has_a && p.shares_b == 0) load_a();
        if (shares_b) {
          const int first = rank * (Tiles::boxes_b / Config::cluster);
#pragma unroll 1
          for (int i = first; i < first + Tiles::boxes_b / Config::cluster; ++i) load_box_b(both_ctas, i);
        } else {
#pragma unroll 1
          for (int i = 0; i < Tiles::boxes_b; ++i) load_box_b(this_cta, i);
        }
        if (has_a && p.shares_b != 0) load_a();
        stage = stage.next();
      }
    });
    ring.drain(stage);
  }

 private:
  static constexpr std::false_type this_cta{};
  static constexpr std::true_type both_ctas{};
  __device__ __forceinline__ static void load(std::false_type, std::uint8_t* to, const TensorMap& map,
                                              int row, int column, std::uint64_t* barrier) {
    copy_box(to, map, row, column, barrier);
  }
  __device__ __forceinline__ static void load(std::true_type, std::uint8_t* to, const TensorMap& map, int row,
                                              int column, std::uint64_t* barrier) {
    copy_box_to_cluster(to, map, row, column, barrier,
                        static_cast<std::uint16_t>((1U << Config::cluster) - 1));
  }
};

}  // namespace tenon
