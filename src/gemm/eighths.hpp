// Kernels that read A in eighths (EveryEighthLine): how many tiles its rows make, for the launch and for the
// choice among kernels.
#pragma once

namespace tenon {

// Tiles of 64 rows of each of two eighths, where those of the same 512 rows come together: the last ones that
// have no row are the last of all, and left out.
constexpr int row_tiles_of_eighths(int rows) noexcept {
  const int left = rows % 512, pairs = (left + 1) / 2;
  return rows / 512 * 4 + (pairs < 4 ? pairs : 4);
}

}  // namespace tenon
