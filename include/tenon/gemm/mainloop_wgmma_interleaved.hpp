// The mainloop for row-interleaved (stride-8) views of A. TMA reads the rows of a view from `shift` elements
// before those of A, so each k-tile of A is multiplied with rows of B that begin `shift` rows of k earlier.
// Below: realign.hpp, mainloop_wgmma.hpp, row_interleaved.hpp.
#pragma once

#include "tenon/gemm/mainloop_wgmma.hpp"
#include "tenon/gemm/realign.hpp"
#include "tenon/gemm/row_interleaved.hpp"
#include "tenon/ptx/barrier.hpp"

namespace tenon {

// Config: RowInterleaved of a WgmmaConfig. The interface is that of MainloopWgmma.
template <class Config>
class MainloopRowInterleaved {
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  using Views = RowInterleavedTiles<2>;
  static constexpr int depth = Config::Block::k, step_depth = 32 / TileA::element_bytes;  // of one wgmma

  // A tile with another base or depth: B from some row of k on, or the k of one wgmma instruction.
  template <class Tile, int Depth>
  struct PartOf : Tile {
    static constexpr int depth = Depth;
  };

 public:
  template <class Issued>
  __device__ __forceinline__ static void run(typename Config::Accumulators& accumulators,
                                             StageConsumer<Config>& stages, const WorkTile& work,
                                             const GemmArguments& p, int consumer, int row,
                                             const Issued& issued) {
    accumulators.clear();
    // From lane 0: ptxas then knows that it is the same in all lanes, and the descriptors of B, which depend
    // on it, stay in uniform registers.
    const int shift = __shfl_sync(
        0xffffffffU, Views::view(work.m, consumer) * static_cast<int>(p.lda % Config::views) % Config::views,
        0);
    bool first = shift != 0;
    const auto start = [&](const auto& a, const auto& b) {
      if (first) clear_shift(a.base, consumer, shift);
      first = false;
      accumulators.start(a, b, row, 0);
    };
    const auto wait = [&] { accumulators.wait_previous(); };
    const auto b_from = [&](const TileB& b) {
      return b.base + static_cast<std::uint32_t>((Config::most_shift - shift) * TileB::row_bytes);
    };
    int left = work.k_count;
    // If the last k-tile holds only elements that the shift has moved there, one wgmma step is enough for it.
    const bool ends_early = p.k + shift <= (left - 1) * depth + step_depth;
    if (ends_early) --left;
#pragma unroll 1
    for (; left > 0; --left)
      stages.consume([&](const TileA& a, const TileB& b) { start(a, PartOf<TileB, depth>{b_from(b)}); },
                     wait);
    if (ends_early) {
      stages.consume(
          [&](const TileA& a, const TileB& b) {
            start(PartOf<TileA, step_depth>{a.base}, PartOf<TileB, step_depth>{b_from(b)});
          },
          wait);
    }
    issued();
    accumulators.wait();
    stages.release_last();
  }

 private:
  // By a consumer warpgroup: its rows of a tile's first k-tile begin with elements of other rows of A, which
  // are overwritten with zeros.
  __device__ __forceinline__ static void clear_shift(std::uint32_t a, int consumer, int shift) {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    if (thread < Views::rows) {
      const int row = consumer * Views::rows + thread;
      clear_elements(a + static_cast<std::uint32_t>(TileA::offset(row, 0)), shift);
    }
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncwarp();  // lanes have diverged, and bar.sync needs whole warps
    ptx::bar_sync<128>(NamedBarrier::cleared_shift + consumer);
  }
};

}  // namespace tenon
