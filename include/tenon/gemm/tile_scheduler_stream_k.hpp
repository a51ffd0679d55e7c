// Stream-K (Osama et al., 2023, "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix
// Multiplication on the GPU"): the tiles that would not fill a wave are cut along k, and every cluster gets
// the same number of pieces. Plain C++17. Below: tile_scheduler.hpp.
//
//   cluster      0         1         2         3          (numbered here by their share, see below)
//   streamed  | tile 0    ...| tile 1 | tile 1  | tile 2   |     each share: as many pieces
//   whole     | tile 3    | tile 4   | tile 5   | tile 6   |
//
// A share may begin inside a tile. The cluster that has the first k-tiles of a tile adds up and stores it;
// the others, whose shares begin with the rest of it, write their accumulators to memory
// (reduction_stream_k.hpp). The shares are numbered backwards: a cluster waits for clusters of lower numbers
// alone, which the device starts before it, so there is no deadlock if not all of them run at once.
//
// Tiles are cut into few pieces, not at any k-tile, because clusters that multiply the same k-tiles at the
// same time read them from memory once.
#pragma once

#include "tenon/gemm/tile_scheduler.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// How the tiles of a product are divided.
struct StreamK {
  static constexpr int most_pieces = 16, least_k_tiles = 4;  // of a tile, of a piece
  // What it takes to write the accumulators of a tile or to read them, in k-tiles of 128x256.
  static constexpr double k_tiles_of_transfer = 3.5;

  int whole_tiles;  // cluster tiles that are computed whole, the first of the raster
  int pieces;       // of each other tile

  // Whether clusters that read the same operands at different times read them from memory each time.
  static constexpr bool exceeds_l2(double operand_bytes, std::size_t l2_bytes) noexcept {
    return operand_bytes > 0.75 * static_cast<double>(l2_bytes);
  }
  // The division that takes the least time. clusters: that run at once. from_memory: the operands do not fit
  // the L2, so that a share of more than two pieces would read them too often.
  static constexpr StreamK of(int tiles, int clusters, int k_tiles, bool from_memory) noexcept {
    const int left = tiles % clusters, waves = tiles / clusters;
    StreamK best{tiles, 1};
    double least = (waves + (left != 0 ? 1 : 0)) * static_cast<double>(k_tiles);
    for (int streamed = left; left != 0 && streamed <= tiles && streamed < 2 * clusters;
         streamed += clusters) {
      for (int pieces = 2; pieces <= most_pieces && pieces * least_k_tiles <= k_tiles; ++pieces) {
        const int each = share(streamed, clusters, pieces);
        if (from_memory && each > 2) continue;
        const int received = (pieces - 1 + each - 1) / each;
        const int whole_waves = (tiles - streamed) / clusters;
        const double time = static_cast<double>(whole_waves) * k_tiles +
                            static_cast<double>(each) * k_tiles / pieces +
                            k_tiles_of_transfer * (1 + received);
        if (time >= least) continue;
        least = time;
        best = {tiles - streamed, pieces};
      }
    }
    return best;
  }
  // Pieces of a cluster, of `streamed` tiles.
  TENON_HOST_DEVICE static constexpr int share(int streamed, int clusters, int pieces) noexcept {
    return (streamed * pieces + clusters - 1) / clusters;
  }
};

// Indices count this CTA's work: first() = 0, below end(). Its share of the streamed tiles comes first, so
// that the clusters wait for each other while there is other work.
template <class Cluster>
class StreamKTileScheduler {
 public:
  // As TileScheduler: the tiles of the raster from whole_tiles on are streamed, in `pieces` pieces each.
  TENON_HOST_DEVICE constexpr StreamKTileScheduler(const Raster& raster, int whole_tiles, int pieces,
                                                   int k_tiles, int cta, int ctas,
                                                   const Cluster& cluster = {})
      : raster_(raster),
        cluster_(cluster),
        whole_tiles_(whole_tiles),
        pieces_(pieces),
        k_tiles_(k_tiles),
        rank_(cluster.rank(cta)),
        cluster_index_(cluster.cluster(cta)),
        clusters_(cluster.cluster(ctas)),
        share_(StreamK::share(raster.tiles() - whole_tiles, clusters_, pieces)) {
    const int all = (raster.tiles() - whole_tiles) * pieces;
    begin_ = (clusters_ - 1 - cluster_index_) * share_;
    end_ = begin_ + share_ < all ? begin_ + share_ : all;
    first_tile_ = begin_ / pieces;
    streamed_ = begin_ < end_ ? (end_ - 1) / pieces - first_tile_ + 1 : 0;
  }

  TENON_HOST_DEVICE constexpr int first() const { return 0; }
  TENON_HOST_DEVICE constexpr int step() const { return 1; }
  TENON_HOST_DEVICE constexpr int end() const {
    const int left = whole_tiles_ - cluster_index_;
    return streamed_ + (left > 0 ? (left + clusters_ - 1) / clusters_ : 0);
  }
  TENON_HOST_DEVICE WorkTile at(int index) const {
    int tile = cluster_index_ + (index - streamed_) * clusters_, begin = 0, end = k_tiles_;
    if (index < streamed_) {
      const int of_tile = (first_tile_ + index) * pieces_;  // its first piece
      tile = whole_tiles_ + first_tile_ + index;
      if (begin_ > of_tile) begin = first_k_tile(begin_ - of_tile);
      if (end_ < of_tile + pieces_) end = first_k_tile(end_ - of_tile);
    }
    const TilePosition at = raster_.at(tile);
    return {at.m * cluster_.m + cluster_.rank_m(rank_), at.n * cluster_.n + cluster_.rank_n(rank_), begin,
            end - begin, false};
  }
  TENON_HOST_DEVICE constexpr bool ends_with_split_tile() const { return false; }
  TENON_HOST_DEVICE constexpr int k_tiles() const { return k_tiles_; }
  TENON_HOST_DEVICE constexpr const WorkTile& loaded(const WorkTile& work) const { return work; }

  // Whether this cluster's part of the tile is added up by another one; else how many clusters of lower
  // numbers, the next ones, have parts of it.
  TENON_HOST_DEVICE constexpr bool is_sent(const WorkTile& work) const { return work.k_begin != 0; }
  TENON_HOST_DEVICE constexpr int received_parts(const WorkTile& work) const {
    if (work.k_count == k_tiles_) return 0;
    const int left = pieces_ - end_ % pieces_;  // the part is the last one of the share
    return (left + share_ - 1) / share_;
  }

 private:
  // Of a piece of a tile.
  TENON_HOST_DEVICE constexpr int first_k_tile(int piece) const {
    return static_cast<int>(static_cast<std::int64_t>(piece) * k_tiles_ / pieces_);
  }

  const Raster& raster_;
  Cluster cluster_;
  int whole_tiles_, pieces_, k_tiles_, rank_, cluster_index_, clusters_;
  int share_;                          // pieces of a cluster
  int begin_ = 0, end_ = 0;            // of this one, among all
  int first_tile_ = 0, streamed_ = 0;  // the tiles that they are in
};

}  // namespace tenon
