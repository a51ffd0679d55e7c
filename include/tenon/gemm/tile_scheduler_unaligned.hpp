// The tile scheduler of the kernel for unaligned operands (kernel_wgmma_unaligned.hpp): which tile of which
// view of A a CTA computes next, its range of k-tiles, and whether the CTAs of a cluster share A or B. Plain
// C++17. Below: arguments.hpp, row_interleaved.hpp, tile_scheduler.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/row_interleaved.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/gemm/tile_shape.hpp"
#include "tenon/gemm/types.hpp"

namespace tenon {

// T_: __half or __nv_bfloat16. M: rows of C in a tile, the n of wgmma. Stages: k-tiles of 64 in flight.
// swap_ab_: A and B are swapped, and so are m and n, for an unaligned A and an aligned B. The accumulators,
// the transpose of the swapped product, are then C.
template <class T_, int M, int Stages, bool swap_ab_ = false>
struct UnalignedConfig {
  static_assert(sizeof(T_) == 2,
                "UnalignedConfig: elements must have 16 bits, so that rows i and i + 8 have the same offset");
  static_assert(Stages >= 2, "UnalignedConfig: a k-tile is loaded while another one is multiplied");
  using T = T_;
  using TB = T_;
  using Acc = float;
  using Block = TileShape<M, 128, 64>;
  using Warp = TileShape<M, 64, 0>;  // of a warpgroup
  static constexpr int stages = Stages;
  static constexpr bool swap_ab = swap_ab_;
  static constexpr Order a_order = Order::row_major, b_order = Order::column_major;
  static constexpr int cluster = 2;  // CTAs, along n or m
};

// A tile has rows of A from one view, or adjacent rows if rows_apart is 1.
//
// k-tiles begin `before` elements before the rows of A: 8, so that B can be shifted both ways. If rows of A
// are aligned, every row of a TMA box would then cross an L2 sector, which takes TMA longer. In that case
// k-tiles begin a whole k-tile before the rows; of that first one the producer loads only B, and nothing is
// multiplied.
struct UnalignedArguments {
  GemmArguments gemm;
  int rows_apart;  // 8, or 1 (always if swap_ab): then every map of A is a map of all its rows
  int before;      // 8, or 64 if all rows of A begin on multiples of 16 bytes
  // Not 0: the CTAs of a cluster lie along m and share B; 0: along n, and share A. Only if rows_apart is 1.
  int shares_b;
};

// Whether the CTAs of a cluster should share B where rows of A begin on multiples of 128 bytes: every row of
// B crosses a sector, so B is the costlier operand to load. Not if sharing B makes more cluster tiles than
// sharing A.
constexpr bool shares_unaligned_b(std::int64_t m, std::int64_t n, int tile_m, int tile_n) noexcept {
  const std::int64_t tiles_m = (m - 1) / tile_m + 1, tiles_n = (n - 1) / tile_n + 1;
  return (tiles_m + 1) / 2 * tiles_n <= tiles_m * ((tiles_n + 1) / 2);
}

// What a CTA computes next.
struct UnalignedWorkTile {
  int view, row;  // of A, and the tile's first row in that view
  int column;
  int shift;  // elements by which TMA reads rows of the view too early
  bool tail_split;
  bool is_first, is_last;  // of this CTA
  // The k-tiles that are multiplied. Unless k_begin is 0, the producer also loads B of the k-tile before.
  int k_begin, k_count;
};

// Config: UnalignedConfig.
template <class Config>
class UnalignedTileScheduler {
  using Block = typename Config::Block;
  // Along m or n: known only at run time.
  using Pair = ClusterShape<Config::cluster, 1>;

 public:
  TENON_HOST_DEVICE UnalignedTileScheduler(const UnalignedArguments& p, int cta, int ctas)
      : p_(p), clusters_(p.gemm.raster, p.gemm.whole_tiles, k_tiles(p), cta, ctas), rank_(Pair::rank(cta)) {}

  TENON_HOST_DEVICE int first() const { return clusters_.first(); }
  TENON_HOST_DEVICE int step() const { return clusters_.step(); }
  TENON_HOST_DEVICE int end() const { return clusters_.end(); }

  TENON_HOST_DEVICE UnalignedWorkTile at(int index) const {
    const auto [tile, member, split] = clusters_.member_at(index);
    const int row = p_.shares_b ? tile.m * Config::cluster + member : tile.m;
    const int column = p_.shares_b ? tile.n : tile.n * Config::cluster + member;
    const int view = row & (p_.rows_apart - 1), skipped = p_.before == Block::k ? 1 : 0;
    const KTiles k = part_of_k(k_tiles(p_) - skipped, split ? 2 : 1, rank_);
    return {view,
            (p_.rows_apart == 8 ? row / 8 : row) * Block::m,
            column * Block::n,
            shift_of(p_.gemm.a, p_.gemm.lda, view),
            split,
            index == first(),
            index + step() >= end(),
            skipped + k.begin,
            k.count};
  }

  // Elements between the last multiple of 16 bytes and a row.
  TENON_HOST_DEVICE static int shift_of(const void* matrix, std::int64_t ld, int row) {
    return static_cast<int>((reinterpret_cast<std::uintptr_t>(matrix) / 2 +
                             static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(ld)) %
                            8);
  }
  // The number of k-tiles, counted from `before` elements before the rows of A. A row that TMA reads too
  // early ends up to 7 elements later.
  TENON_HOST_DEVICE static int k_tiles(const UnalignedArguments& p) {
    return (p.gemm.k - 1 + p.before + (p.before == Block::k ? 0 : 7)) / Block::k + 1;
  }

 private:
  const UnalignedArguments& p_;
  TileScheduler<Pair, true> clusters_;
  int rank_;
};

}  // namespace tenon
