// The order in which CTAs compute output tiles. CTAs that run at the same time should read the same rows of A
// and columns of B, so that both stay in the L2. So the raster goes through bands of `band` tile rows, down
// each column of a band first, and through every other band from right to left, so that a band begins where
// the last one ended. Plain C++17. Below: divisor.hpp.
#pragma once

#include "tenon/gemm/divisor.hpp"

namespace tenon {

struct TilePosition {
  int m, n;  // in tiles
};

class Raster {
 public:
  constexpr Raster() = default;
  // tiles_m, tiles_n: >= 0, less than 2^31 tiles; band: >= 1, no higher than the matrix in effect.
  TENON_HOST_DEVICE constexpr Raster(int tiles_m, int tiles_n, int band)
      : tiles_m_(tiles_m),
        tiles_n_(tiles_n),
        band_(one_or(band < tiles_m ? band : tiles_m)),
        whole_bands_(tiles_m / band_),
        by_band_(one_or(band_ * tiles_n)),
        by_rows_(band_),
        by_last_rows_(one_or(tiles_m % band_)) {}

  TENON_HOST_DEVICE constexpr int tiles_m() const { return tiles_m_; }
  TENON_HOST_DEVICE constexpr int tiles_n() const { return tiles_n_; }
  TENON_HOST_DEVICE constexpr int tiles() const { return tiles_m_ * tiles_n_; }
  TENON_HOST_DEVICE constexpr int band() const { return band_; }
  // The number of the band that a tile row belongs to.
  TENON_HOST_DEVICE int band_of(int m) const { return by_rows_.quotient(m); }

  // The index-th tile, index >= 0: each position once below tiles(). (From there on a position that nobody
  // may use: producers compute it for the tile after their last one.)
  TENON_HOST_DEVICE TilePosition at(int index) const {
    const int which = by_band_.quotient(index), rest = index - which * (band_ * tiles_n_);
    const bool whole = which < whole_bands_;
    const int n = (whole ? by_rows_ : by_last_rows_).quotient(rest);
    const int rows = whole ? band_ : tiles_m_ - which * band_;
    return {which * band_ + rest - n * rows, which % 2 == 0 ? n : tiles_n_ - 1 - n};
  }

 private:
  // A divisor, if there is something to divide.
  TENON_HOST_DEVICE static constexpr int one_or(int divisor) { return divisor > 0 ? divisor : 1; }

  int tiles_m_ = 0, tiles_n_ = 0, band_ = 1, whole_bands_ = 0;
  Divisor by_band_, by_rows_, by_last_rows_;  // tiles of a band; rows of a band, and of the last one
};

TENON_HOST_DEVICE constexpr Raster make_raster(int m, int n, int tile_m, int tile_n, int band) {
  return {m / tile_m + (m % tile_m != 0), n / tile_n + (n % tile_n != 0), band};
}

}  // namespace tenon
