// The tile scheduler of the kernel for unaligned operands (kernel_wgmma_unaligned.hpp): which tile of which
// view of A a CTA computes next, from which k-tile on, and whether the CTAs of a cluster share A or B. Plain
// C++17. Below: arguments.hpp, row_interleaved.hpp, tile_scheduler.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/row_interleaved.hpp"
#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/gemm/tile_shape.hpp"
#include "tenon/gemm/types.hpp"

namespace tenon {

// T_: __half or __nv_bfloat16. M: rows of C in a tile, what wgmma has as n. Stages: k-tiles of 64 in flight.
// swap_ab_: A and B are swapped, and so are m and n, for an unaligned A beside a B whose rows are aligned.
// The accumulators, the transpose of that product, are then C.
template <class T_, int M, int Stages, bool swap_ab_ = false>
struct UnalignedConfig {
  static_assert(sizeof(T_) == 2,
                "UnalignedConfig: elements must have 16 bits, of which every eighth row has the same offset");
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

// Which rows of A make a tile: those of one view, or (rows_apart 1) neighbours.
//
// k-tiles begin some elements before the rows of A: 8, so that B can be shifted both ways. Where every row of
// a TMA box would then cross a sector of the L2, which takes TMA longer, they begin a whole k-tile before; of
// that one only B is loaded, and nothing multiplied.
struct UnalignedArguments {
  GemmArguments gemm;
  int rows_apart;  // 8 or, always if swap_ab, 1: then every map of A is that of all its rows
  int before;      // 8, or 64 if all rows of A begin on multiples of 16 bytes
  // Not 0, with rows_apart 1 alone: the CTAs of a cluster stand along m and share B, not along n and A.
  int shares_b;
};

// Whether the CTAs of a cluster share B, of which every row crosses a sector, where rows of A begin on 128
// bytes; but not for more cluster tiles.
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
  // The k-tiles that are multiplied. Before the first one, unless that is 0, there is another one, of which
  // B alone is loaded.
  int k_begin, k_count;
};

// Config: UnalignedConfig.
template <class Config>
class UnalignedTileScheduler {
  using Block = typename Config::Block;
  // Along m or n, which is known at run time alone.
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
  // k-tiles of k, from `before` elements before the rows of A on. Rows that begin further right end up to 7
  // elements after k.
  TENON_HOST_DEVICE static int k_tiles(const UnalignedArguments& p) {
    return (p.gemm.k - 1 + p.before + (p.before == Block::k ? 0 : 7)) / Block::k + 1;
  }

 private:
  const UnalignedArguments& p_;
  TileScheduler<Pair, true> clusters_;
  int rank_;
};

}  // namespace tenon
