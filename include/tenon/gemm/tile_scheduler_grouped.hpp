// The tile scheduler of grouped products: which work tile a cluster computes next, where the sizes of the
// groups stand in device memory. Every role of the kernel walks through the groups by itself, one word each,
// so nothing is prepared by an earlier kernel and nothing is shared between roles.
//
//   GroupedTileScheduler<Cluster, 128, 256> scheduler(rows, raster, k, cta, ctas);
//   for (int i = scheduler.first(); scheduler.find(i); i += scheduler.step()) {
//     const GroupedTile tile = scheduler.at(i);
//   }
//
// A cluster of two CTAs takes two row tiles of a group that lie below each other: they share columns of B.
// The last row tile of a group may have no partner. Then the two CTAs take two of its tiles beside each
// other: they share rows of A. So a group pays for whole row tiles, not for pairs of them.
//
// The same code runs on the host, where the tests prove that each element of each group is computed once.
// Plain C++17. Below: cluster_shape.hpp, group_rows.hpp, tile_scheduler.hpp.
#pragma once

#include "tenon/gemm/cluster_shape.hpp"
#include "tenon/gemm/group_rows.hpp"
#include "tenon/gemm/tile_scheduler.hpp"

namespace tenon {

// How many of `clusters` clusters compute `tiles` tiles in as few waves as all of them. The others would
// shorten no wave, and would draw power, which limits the clock of large products.
TENON_HOST_DEVICE constexpr int clusters_for(int tiles, int clusters) {
  if (tiles <= 0) return 1;
  const int waves = tiles / clusters + (tiles % clusters != 0);
  return tiles / waves + (tiles % waves != 0);
}

// A CTA's tile. work.m is not used: rows are counted in `row`.
struct GroupedTile {
  WorkTile work;
  int group;
  int a_row;         // the tile's first row in A
  int row, end_row;  // the same in C, and the row after the group's last
  int column;        // of C; n or more for a CTA whose partner has the last tile
  int k, end_k;   // k of the first k-tile's first element; where the groups divide k, the end of their part
  bool shares_a;  // the CTAs of the cluster stand side by side, along n, rather than along m
};

// The order of the cluster tiles of a group: as Raster, but for a number of rows that the host does not know.
class GroupRaster {
 public:
  constexpr GroupRaster() = default;
  // tiles_n: >= 1, of a CTA; band: >= 1, rows of cluster tiles. tiles_n * band < 2^31.
  TENON_HOST_DEVICE constexpr GroupRaster(int tiles_n, int band)
      : tiles_n_(tiles_n), band_(band), by_band_(band * tiles_n), by_rows_(band) {}

  TENON_HOST_DEVICE constexpr int tiles_n() const { return tiles_n_; }

  // The index-th of rows * tiles_n() tiles.
  TENON_HOST_DEVICE TilePosition at(int index, int rows) const {
    const int which = by_band_.quotient(index), rest = index - which * (band_ * tiles_n_);
    const int left = rows - which * band_;
    const int n = left >= band_ ? by_rows_.quotient(rest) : rest / left;
    const int height = left >= band_ ? band_ : left;
    return {which * band_ + rest - n * height, which % 2 == 0 ? n : tiles_n_ - 1 - n};
  }

 private:
  int tiles_n_ = 1, band_ = 1;
  Divisor by_band_, by_rows_;
};

// The cluster tiles of a group of tiles_m row tiles. Cluster: ClusterShape<1, 1> or <2, 1>.
template <class Cluster>
struct GroupTiles {
  static_assert(Cluster::n == 1 && Cluster::k == 1 && Cluster::m <= 2,
                "GroupTiles: a cluster is one CTA, or two along m");

  TENON_HOST_DEVICE static int count(const GroupRaster& raster, int tiles_m) {
    const int pairs = tiles_m / Cluster::m * raster.tiles_n();
    return Cluster::m == 2 && tiles_m % 2 != 0 ? pairs + (raster.tiles_n() + 1) / 2 : pairs;
  }
  // The tile of a CTA. local: index of the cluster tile in the group.
  struct Position {
    int m, n;
    bool shares_a;  // see GroupedTile
  };
  TENON_HOST_DEVICE static Position at(const GroupRaster& raster, int tiles_m, int local, int rank) {
    const int rows = tiles_m / Cluster::m, beyond = local - rows * raster.tiles_n();
    if (Cluster::m == 2 && beyond >= 0) return {tiles_m - 1, 2 * beyond + rank, true};
    const TilePosition at = raster.at(local, rows);
    return {at.m * Cluster::m + rank, at.n, false};
  }
};

// Cluster: ClusterShape<1, 1> or <2, 1>. TileM, TileN: rows and columns of a CTA's tile.
template <class Cluster, int TileM, int TileN>
class GroupedTileScheduler {
  using Tiles = GroupTiles<Cluster>;

 public:
  // rows, raster: must outlive the scheduler. k: of every tile. cta, ctas: number in the grid, and size
  // of the grid, a multiple of Cluster::ctas.
  TENON_HOST_DEVICE constexpr GroupedTileScheduler(const GroupRows& rows, const GroupRaster& raster, KTiles k,
                                                   int cta, int ctas)
      : rows_(rows), raster_(raster), k_(k), cta_(cta), ctas_(ctas) {}

  TENON_HOST_DEVICE constexpr int first() const { return cta_ / Cluster::ctas; }
  TENON_HOST_DEVICE constexpr int step() const { return ctas_ / Cluster::ctas; }
  TENON_HOST_DEVICE constexpr int k_tiles() const { return k_.count; }

  // Walks to the group of work tile `index`, at least that of the call before. False: there is none, and all
  // groups have been read.
  TENON_HOST_DEVICE bool find(int index) {
    while (index >= first_ + count_) {
      if (group_ + 1 >= rows_.groups) return false;
      first_ += count_;
      const RowRange range = rows_.of(++group_, reached_);
      if (!range.valid && first_invalid_ < 0) first_invalid_ = group_;
      begin_ = range.begin;
      end_ = range.end;
      tiles_m_ = row_tiles(range);
      count_ = Tiles::count(raster_, tiles_m_);
    }
    return true;
  }

  // The work tile `index` after find(index).
  TENON_HOST_DEVICE GroupedTile at(int index) const {
    const auto at = Tiles::at(raster_, tiles_m_, index - first_, Cluster::rank(cta_));
    const int row = begin_ + at.m * TileM;
    return {{0, at.n, k_.begin, k_.count, false}, group_, row, row, end_, at.n * TileN, 0, 0, at.shares_a};
  }

  // Of a group with these rows.
  TENON_HOST_DEVICE static int cluster_tiles(const GroupRaster& raster, const RowRange& rows) {
    return Tiles::count(raster, row_tiles(rows));
  }

  // After find() has returned false: the first group whose rows leave its buffer or are not sorted; -1: none.
  TENON_HOST_DEVICE constexpr int first_invalid() const { return first_invalid_; }

 private:
  TENON_HOST_DEVICE static int row_tiles(const RowRange& rows) {
    return (rows.end - rows.begin) / TileM + ((rows.end - rows.begin) % TileM != 0);
  }

  const GroupRows& rows_;
  const GroupRaster& raster_;
  KTiles k_;
  int cta_, ctas_;
  // The group that find() has reached: its rows, its row tiles, its cluster tiles, and the index of the first
  // of these.
  int group_ = -1, begin_ = 0, end_ = 0, tiles_m_ = 0, count_ = 0, first_ = 0;
  int reached_ = 0, first_invalid_ = -1;
};

}  // namespace tenon
