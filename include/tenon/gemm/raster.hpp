// The order in which blocks take output tiles. Blocks that run together should read the same rows of A and
// columns of B, so that both stay in the L2: tiles are taken in bands of `band` tile rows, down each band's
// columns first, and every other band from right to left, so that a band begins where the last one ended.
// Plain C++17.
#pragma once

#include "tenon/fragment/host_device.hpp"

namespace tenon {

struct TilePosition {
  int m, n;  // in tiles
};

struct Raster {
  int tiles_m, tiles_n, band;

  TENON_HOST_DEVICE constexpr int tiles() const { return tiles_m * tiles_n; }

  // The index-th tile, 0 <= index < tiles(): each position once.
  TENON_HOST_DEVICE constexpr TilePosition at(int index) const {
    const int per_band = band * tiles_n;
    const int which = index / per_band, rest = index - which * per_band;
    const int rows_left = tiles_m - which * band;
    const int rows = rows_left < band ? rows_left : band;
    const int n = rest / rows;
    return {which * band + rest - n * rows, which % 2 == 0 ? n : tiles_n - 1 - n};
  }
};

TENON_HOST_DEVICE constexpr Raster make_raster(int m, int n, int tile_m, int tile_n, int band) {
  return {m / tile_m + (m % tile_m != 0), n / tile_n + (n % tile_n != 0), band};
}

}  // namespace tenon
