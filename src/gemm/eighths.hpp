// Kernels that read A in eighths (EveryEighthLine, GemmUnaligned): how many tiles its rows make, for the
// launch and for the choice among kernels.
#pragma once

#include <cstdint>

namespace tenon {

// Tiles of `lines` lines of each of `eighths` eighths, where those of the same rows come together: the last
// ones that have no row are the last of all, and left out.
constexpr int row_tiles_of_eighths(int rows, int lines, int eighths) noexcept {
  const int tiles = 8 / eighths, together = 8 * lines, left = (rows % together + eighths - 1) / eighths;
  return rows / together * tiles + (left < tiles ? left : tiles);
}

// GemmUnaligned, where rows of A begin lines of the L2: whether the two blocks of a cluster stand along m and
// share B, of which lines lie in two of the L2, instead of A; but not for more tiles of clusters.
constexpr bool shares_b(std::int64_t m, std::int64_t n, int tile_m, int tile_n) noexcept {
  const std::int64_t tiles_m = (m - 1) / tile_m + 1, tiles_n = (n - 1) / tile_n + 1;
  return (tiles_m + 1) / 2 * tiles_n <= tiles_m * ((tiles_n + 1) / 2);
}

// EveryEighthLine: each of two warpgroups has 64 lines of an eighth.
constexpr int row_tiles_of_two_eighths(int rows) noexcept {
  return row_tiles_of_eighths(rows, 64, 2);
}

}  // namespace tenon
