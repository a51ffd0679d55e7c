// Kernels that read A in eighths (EveryEighthLine, GemmUnaligned): how many tiles its rows make, for the
// launch and for the choice among kernels.
#pragma once

namespace tenon {

// Tiles of `lines` lines of each of `eighths` eighths, where those of the same rows come together: the last
// ones that have no row are the last of all, and left out.
constexpr int row_tiles_of_eighths(int rows, int lines, int eighths) noexcept {
  const int tiles = 8 / eighths, together = 8 * lines, left = (rows % together + eighths - 1) / eighths;
  return rows / together * tiles + (left < tiles ? left : tiles);
}

// EveryEighthLine: each of two warpgroups has 64 lines of an eighth.
constexpr int row_tiles_of_two_eighths(int rows) noexcept {
  return row_tiles_of_eighths(rows, 64, 2);
}

}  // namespace tenon
