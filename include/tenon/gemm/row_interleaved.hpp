// Which rows of a matrix the tiles of row-interleaved (stride-8) views hold. View v has rows v, v + 8, v +
// 16, ... of the matrix. Plain C++17.
#pragma once

#include "tenon/fragment/host_device.hpp"

namespace tenon {

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

  // Tiles that m rows make: those without a row are the last of all, and left out.
  TENON_HOST_DEVICE static constexpr int tiles_of(int m) {
    const int together = views * Rows, left = (m % together + ViewsOfTile - 1) / ViewsOfTile;
    return m / together * tiles_together + (left < tiles_together ? left : tiles_together);
  }
};

}  // namespace tenon
