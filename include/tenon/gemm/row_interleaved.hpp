// The rows of a matrix that a tile of row-interleaved (stride-8) views holds. View v has rows v, v + 8, v +
// 16, ... of the matrix. Plain C++17.
#pragma once

#include "tenon/fragment/host_device.hpp"

namespace tenon {

// The number of tiles for m rows; a tile has `rows` rows of `views_of_tile` adjacent views. Consecutive tiles
// go through all views of the same rows first. Tiles without any row come last and are not counted.
TENON_HOST_DEVICE constexpr int row_interleaved_tiles(int m, int rows, int views_of_tile) {
  const int together = 8 / views_of_tile, rows_together = 8 * rows;
  const int left = (m % rows_together + views_of_tile - 1) / views_of_tile;
  return m / rows_together * together + (left < together ? left : together);
}

// The tiles along m. A tile has `Rows` rows of `ViewsOfTile` adjacent views. Consecutive tiles go through all
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
