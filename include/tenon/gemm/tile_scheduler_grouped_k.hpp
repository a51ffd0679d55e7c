// The tile scheduler of products whose groups divide k: C[g] = A[:, k of g] * B[k of g, :], the weight
// gradient of a mixture of experts. Every group has as many tiles, and a part of k that stands in device
// memory. As tile_scheduler_grouped.hpp, which it builds on. Plain C++17.
#pragma once

#include "tenon/gemm/tile_scheduler_grouped.hpp"

namespace tenon {

// The C of every group: m rows each, `pitch` rows from the first of one group to the first of the next.
struct GroupOutputs {
  int m, pitch;
};

// Cluster, TileM, TileN: see GroupedTileScheduler. TileK: k of a k-tile.
template <class Cluster, int TileM, int TileN, int TileK>
class GroupedKTileScheduler {
  using Tiles = GroupTiles<Cluster>;

 public:
  // parts: of k, as GroupRows counts them. no_k: a k beyond A and B, which TMA fills with zeros; all_empty:
  // whether every group is multiplied there. The other arguments: see GroupedTileScheduler.
  TENON_HOST_DEVICE constexpr GroupedKTileScheduler(const GroupRows& parts, const GroupRaster& raster,
                                                    const GroupOutputs& outputs, int no_k, bool all_empty,
                                                    int cta, int ctas)
      : parts_(parts),
        raster_(raster),
        outputs_(outputs),
        no_k_(no_k),
        all_empty_(all_empty),
        cta_(cta),
        ctas_(ctas),
        tiles_m_(outputs.m / TileM + (outputs.m % TileM != 0)) {}

  TENON_HOST_DEVICE constexpr int first() const { return cta_ / Cluster::ctas; }
  TENON_HOST_DEVICE constexpr int step() const { return ctas_ / Cluster::ctas; }

  // See GroupedTileScheduler.
  TENON_HOST_DEVICE bool find(int index) {
    while (index >= first_ + count_) {
      if (group_ + 1 >= parts_.groups) return false;
      first_ += count_;
      const RowRange range = parts_.of(++group_, reached_);
      if (!range.valid && first_invalid_ < 0) first_invalid_ = group_;
      begin_ = range.begin;
      end_ = range.end;
      count_ = range.valid ? Tiles::count(raster_, tiles_m_) : 0;
    }
    return true;
  }
  TENON_HOST_DEVICE GroupedTile at(int index) const {
    const auto at = Tiles::at(raster_, tiles_m_, index - first_, Cluster::rank(cta_));
    const int row = at.m * TileM, of_group = group_ * outputs_.pitch;
    const bool empty = all_empty_ || begin_ == end_;
    const int k = empty ? no_k_ : begin_, k_size = empty ? TileK : end_ - begin_;
    return {{0, at.n, 0, k_size / TileK + (k_size % TileK != 0), false},
            group_,
            row,
            of_group + row,
            of_group + outputs_.m,
            at.n * TileN,
            k,
            k + k_size,
            at.shares_a};
  }
  TENON_HOST_DEVICE constexpr int first_invalid() const { return first_invalid_; }

 private:
  const GroupRows& parts_;
  const GroupRaster& raster_;
  const GroupOutputs& outputs_;
  int no_k_;
  bool all_empty_;
  int cta_, ctas_;
  int tiles_m_, group_ = -1, begin_ = 0, end_ = 0, count_ = 0, first_ = 0;
  int reached_ = 0, first_invalid_ = -1;
};

}  // namespace tenon
