// The tile scheduler of persistent kernels: which work tile a CTA computes next. The same code runs on the
// device, in every role of the kernel, and on the host, where the tests prove that each element of C is
// computed once and with all of k.
//
//   const TileScheduler<Cluster, true> scheduler(raster, whole_tiles, k_tiles, cta, ctas);
//   for (int i = scheduler.first(); i < scheduler.end(); i += scheduler.step()) {
//     const WorkTile work = scheduler.at(i);   // multiply k-tiles work.k_begin .. + work.k_count
//   }
//
// A wave is what all clusters compute at once. Tiles that are left after whole waves keep few clusters busy:
// with tail split-K the two CTAs of a cluster compute half of the k of one tile each (TailSplit says when).
// Plain C++17. Below: cluster_shape.hpp, raster.hpp.
#pragma once

#include "tenon/gemm/cluster_shape.hpp"
#include "tenon/gemm/raster.hpp"

namespace tenon {

// A CTA's tile of C, in tiles of a CTA, and the k-tiles that it multiplies for it.
struct WorkTile {
  int m, n;
  int k_begin, k_count;
  // Whether the other CTA of the cluster computes the same tile with the rest of k. Such CTAs share no
  // operands.
  bool tail_split;
};

// A contiguous range of k-tiles.
struct KTiles {
  int begin, count;
};
// The part-th of `parts` equal parts of `all` k-tiles. Each part has one k-tile at least, so that its
// accumulators have a value: a k-tile beyond k, which TMA fills with zeros.
TENON_HOST_DEVICE constexpr KTiles part_of_k(int all, int parts, int part) {
  if (parts == 1) return {0, all};
  const int most = (all + parts - 1) / parts, begin = part * most;
  const int left = all - begin;
  return {begin, left < 1 ? 1 : left < most ? left : most};
}

// When the tiles of the last wave are split along k, for the launch and for the choice among kernels.
struct TailSplit {
  // k-tiles below which halving k gains less than the reduction costs.
  static constexpr int least_k_tiles = 16;

  // Cluster tiles that are computed whole, and the clusters that have work: one for each whole tile, two for
  // each split tile.
  int whole_tiles, busy_clusters;

  // How many of `tiles` cluster tiles `clusters` clusters of two CTAs split: the tiles of the last wave, if
  // they fill at most half of it.
  static constexpr int split_tiles(int tiles, int clusters, int k_tiles) noexcept {
    const int left = tiles % clusters;
    return 2 * left <= clusters && k_tiles >= least_k_tiles ? left : 0;
  }
  static constexpr TailSplit of(int tiles, int clusters, int k_tiles) noexcept {
    const int split = split_tiles(tiles, clusters, k_tiles), whole = tiles - split;
    const int wanted = whole > 2 * split ? whole : 2 * split;
    return {whole, wanted < clusters ? wanted : clusters};
  }
};

// Cluster: ClusterShape, LaunchedCluster, or a type with their members. splits_tail: whether the tiles of the
// raster from `whole_tiles` on are split along k, which needs a cluster of two CTAs.
template <class Cluster, bool splits_tail>
class TileScheduler {
 public:
  // raster: of cluster tiles. whole_tiles: the first so many tiles of the raster are not split.
  // k_tiles: in all of k. cta, ctas: number in the grid, and size of the grid, a multiple of the cluster's.
  TENON_HOST_DEVICE constexpr TileScheduler(const Raster& raster, int whole_tiles, int k_tiles, int cta,
                                            int ctas, const Cluster& cluster = {})
      : raster_(raster),
        cluster_(cluster),
        whole_tiles_(whole_tiles),
        k_tiles_(k_tiles),
        cta_(cta),
        ctas_(ctas) {}

  // Indices of this CTA's work: first(), first() + step(), ... below end(). Split tiles come last.
  TENON_HOST_DEVICE constexpr int first() const { return cluster_.cluster(cta_); }
  TENON_HOST_DEVICE constexpr int step() const { return cluster_.cluster(ctas_); }
  TENON_HOST_DEVICE constexpr int end() const {
    return whole_tiles_ + (raster_.tiles() - whole_tiles_) * cluster_.ctas;
  }

  // A cluster's tile, and the CTA's place in it.
  struct Member {
    TilePosition cluster_tile;
    int member;  // 0 to sharing - 1, along m first; of a split tile the same in both CTAs
    bool tail_split;
  };
  TENON_HOST_DEVICE Member member_at(int index) const {
    const int beyond = index - whole_tiles_;
    const bool split = splits_tail && beyond >= 0;
    const TilePosition at = raster_.at(split ? whole_tiles_ + beyond / cluster_.ctas : index);
    return {at, split ? beyond % cluster_.ctas : cluster_.rank_sharing(cluster_.rank(cta_)), split};
  }
  TENON_HOST_DEVICE WorkTile at(int index) const {
    const auto [tile, member, split] = member_at(index);
    const int rank = cluster_.rank(cta_);
    const KTiles k =
        split ? part_of_k(k_tiles_, 2, rank) : part_of_k(k_tiles_, Cluster::k, cluster_.rank_k(rank));
    return {tile.m * cluster_.m + cluster_.rank_m(member), tile.n * cluster_.n + cluster_.rank_n(member),
            k.begin, k.count, split};
  }

  // Whether this CTA's last work is half of a split tile.
  TENON_HOST_DEVICE constexpr bool ends_with_split_tile() const {
    return splits_tail && first() < (raster_.tiles() - whole_tiles_) * cluster_.ctas;
  }
  TENON_HOST_DEVICE constexpr int k_tiles() const { return k_tiles_; }
  // The tile of A (m) and of B (n) that the producer loads for a work tile.
  TENON_HOST_DEVICE constexpr const WorkTile& loaded(const WorkTile& work) const { return work; }

 protected:
  const Raster& raster_;

 private:
  Cluster cluster_;
  int whole_tiles_, k_tiles_, cta_, ctas_;
};

// Calls f(index) for each of the CTA's work tiles in order; with every > 1 only for those numbered `turn`,
// `turn + every`, ... f may overwrite the index if it restores it before it returns.
template <class Scheduler, class F>
TENON_HOST_DEVICE inline void for_each_work(const Scheduler& scheduler, int turn, int every, F&& f) {
  const int end = scheduler.end(), step = scheduler.step();
  int index = scheduler.first() + turn * step;
  for (; index < end; index += every * step) f(index);
}

}  // namespace tenon
