// What is particular to groups that divide k: C[g] = A[:, k of g] * B[k of g, :]. The part of k of a group
// may end anywhere in a k-tile. What TMA loads beyond it belongs to the next group, so the consumers
// overwrite it with zeros, in both operands: a NaN there must not reach this group. Below:
// arguments_grouped.hpp, wgmma_pieces.hpp.
#pragma once

#include "tenon/gemm/arguments_grouped.hpp"
#include "tenon/gemm/wgmma_pieces.hpp"
#include "tenon/ptx/barrier.hpp"
#include "tenon/ptx/st_shared.hpp"

namespace tenon {

// Config: Grouped, cooperative, m contiguous in A and n in B: a row of shared memory has one k.
template <class Config>
struct KGroups {
  using TileA = typename Config::TileA;
  using TileB = typename Config::TileB;
  static constexpr int depth = Config::Block::k;
  static_assert(!TileA::k_major && !TileB::k_major && !Config::pingpong,
                "KGroups: A must be column-major and B row-major, and the kernel cooperative");

  using Scheduler =
      GroupedKTileScheduler<typename Config::Cluster, Config::Block::m, Config::Block::n, depth>;
  __device__ __forceinline__ static Scheduler scheduler(const GroupedArguments& p, int cta, int ctas) {
    return {p.rows, p.raster, p.outputs, p.rows.limit + 1, p.no_k, cta, ctas};
  }
  // The host knows how many tiles there are.
  __device__ __forceinline__ static int ctas_in_use(const GroupedArguments&, int ctas) { return ctas; }

  // See RowGroups.
  template <class Issued>
  __device__ __forceinline__ static void multiply(typename Config::Accumulators& accumulators,
                                                  StageConsumer<Config>& stages, const GroupedTile& tile,
                                                  const GroupedArguments&, int, int row,
                                                  const Issued& issued) {
    accumulators.clear();
#pragma unroll 1
    for (int k = tile.k; k < tile.end_k; k += depth) {
      stages.consume(
          [&](const TileA& a, const TileB& b) {
            if (tile.end_k - k < depth) {
              clear_from(a, tile.end_k - k);
              clear_from(b, tile.end_k - k);
              cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // wgmma reads through the other proxy
              __syncwarp();                                           // bar.sync needs whole warps
              ptx::bar_sync<threads>(NamedBarrier::end_of_group);
            }
            accumulators.start(a, b, row, 0);
          },
          [&] { accumulators.wait_previous(); });
    }
    issued();
    accumulators.wait();
    stages.release_last();
  }

 private:
  static constexpr int threads = 32 * Config::warps;

  // By all consumers: overwrites the rows of a tile from number `first` on with zeros.
  template <class Tile>
  __device__ __forceinline__ static void clear_from(const Tile& tile, int first) {
    constexpr int words = Tile::row_bytes / 8;
    const std::uint32_t zeros[2] = {0, 0};
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < (depth - first) * Tile::panels * words; i += threads) {
      const int row = first + i / (Tile::panels * words), panel = i / words % Tile::panels;
      const int at = panel * Tile::panel_bytes + row * Tile::row_bytes + i % words * 8;
      ptx::st_shared_v2_b32(tile.base + static_cast<std::uint32_t>(at), zeros);
    }
  }
};

}  // namespace tenon
