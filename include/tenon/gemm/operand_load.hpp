// How TMA loads an operand's part of a k-tile: in how many boxes, by how many CTAs of a cluster, and how much
// of an edge tile.
//
// TMA fills rows beyond the matrix with zeros. If many multiprocessors load such rows at once, each takes
// several times as long as a row that exists (microbench/HISTORY.md). So the residue tile, the last one along
// m or n, has a box of its own that holds only the rows that exist. This is done for k-major operands, by
// kernels whose producer has registers for it (RegisterBudget::loads_residue), and only if the rest of the
// stage can be cleared in time (residue_extent() of plan_sm90.hpp). The rest of the stage then holds zeros or
// older operands; the accumulators made of them are not stored. All other tiles are loaded whole, zeros
// included. Plain C++17. Below: shared/tile.hpp.
#pragma once

#include <limits>

#include "tenon/shared/tile.hpp"

namespace tenon {

// A residue extent that no matrix has: every tile is loaded whole.
inline constexpr int load_whole_tiles = std::numeric_limits<int>::max();

// Tile: OperandTile. Parts: CTAs that load it, each an equal part. extent_left, below: rows of A (columns of
// B) from the tile's first one on, any number: beyond the tile's extent, or below 1 for a tile that lies
// outside.
template <class Tile_, int Parts>
struct OperandLoad {
  using Tile = Tile_;
  // A part of a tile that is not k-major is whole panels or, where there are too few, the same rows of each.
  static constexpr bool by_panels = !Tile::k_major && Tile::panels % Parts == 0;
  static constexpr int panels = by_panels ? Tile::panels / Parts : Tile::panels;
  static constexpr int rows = by_panels ? Tile::rows : Tile::rows / Parts;
  static_assert(
      !Tile::k_major || Tile::panels == 1,
      "OperandLoad: a k-major operand is loaded one box a k-tile, so the k-tile must fit into a row");
  static_assert(rows % 8 == 0 && rows * Parts * panels >= Tile::rows * Tile::panels,
                "OperandLoad: a CTA's part of a k-tile must be a multiple of 8 rows");

  // Rows of a box. The swizzle repeats itself after 8.
  TENON_HOST_DEVICE static constexpr int rows_of(int extent_left) {
    if (!Tile::k_major || extent_left >= rows * Parts) return rows;
    return extent_left > 0 ? (extent_left + 8 * Parts - 1) / (8 * Parts) * 8 : 0;
  }
  // Bytes that all parts bring together, at the start of the operand's part of a stage.
  TENON_HOST_DEVICE static constexpr int bytes_of(int extent_left) {
    return Tile::k_major ? rows_of(extent_left) * Parts * Tile::row_bytes : Tile::bytes;
  }
};

}  // namespace tenon
