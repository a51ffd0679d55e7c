// Which rows of a matrix the tiles of row-interleaved (stride-8) views hold. View v has rows v, v + 8, v +
// 16, ... of the matrix. Plain C++17.
#pragma once

#include "tenon/fragment/host_device.hpp"

namespace tenon {

// Tiles that m rows make, each of `rows` rows of `views_of_tile` neighbouring views. Neighbouring tiles go
// through all views of the same rows first: those without a row are the last of all, and left out.
TENON_HOST_DEVICE constexpr int row_interleaved_tiles(int m, int rows, int views_of_tile) {
  const int together = 8 / views_of_tile, rows_together = 8 * rows;
  const int left = (m % rows_together + views_of_tile - 1) / views_of_tile;
  return m / rows_together * together + (left < together ? left : together);
}

// Tiles along m, each of `Rows` rows of `ViewsOfTile` neighbouring views. Neighbouring tiles go through all
// views of the same rows first.
template <int ViewsOfTile, int Rows = 64>
struct RowInterleavedTiles {
  static constexpr int views = 8, rows = Rows;
  static_assert(views % ViewsOfTile == 0, "RowInterleavedTiles: a tile has 1, 2, 4 or 8 of the 8 views");
  static constexpr int tiles_together = views / ViewsOfTile;

  // The i-th view of a tile, and the tile's first row in it.
  TENON_HOST_DEVICE static constexpr int view(int tile_m, int i) {
    return tile_m % tiles_together * ViewsOfTile + i;
  }
  TENON_HOST_DEVICE static constexpr int row_in_view(int tile_m) { return tile_m / tiles_together * Rows; }

  TENON_HOST_DEVICE static constexpr int tiles_of(int m) {
    return row_interleaved_tiles(m, Rows, ViewsOfTile);
  }
};

}  // namespace tenon
