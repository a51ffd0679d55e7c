// How TMA loads an operand's part of a k-tile: in how many boxes, by how many CTAs of a cluster, and how much
// of an edge tile.
//
// TMA fills rows beyond the matrix with zeros. If many multiprocessors load such rows at once, each takes
// several times as long as a row that exists (microbench/HISTORY.md). So the residue tile, the last one along
// m or n, has a box of its own that holds only the rows that exist. This is done for k-major operands, by
// kernels whose producer has registers for it (RegisterBudget::loads_residue). The rest of the stage holds
// what was there: a row of A (a column of B) is part of that row (column) of accumulators alone, which is not
// stored. All other tiles are loaded whole, zeros included. Plain C++17. Below: shared/tile.hpp.
#pragma once

#include "tenon/ptx/standard.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

// A residue extent that no matrix has: every tile is loaded whole.
inline constexpr int load_whole_tiles = std::numeric_limits<int>::max();

// Tile: OperandTile. parts: CTAs that load it, each an equal part: boxes() boxes of rows() x
// Tile::panel_columns. extent_left, below: rows of A (columns of B) from the tile's first one on, any number:
// beyond the tile's extent, or below 1 for a tile that lies outside.
template <class Tile_>
class OperandLoad {
 public:
  using Tile = Tile_;
  static_assert(
      !Tile::k_major || Tile::panels == 1,
      "OperandLoad: a k-major operand is loaded one box a k-tile, so the k-tile must fit into a row");

  // Whether so many CTAs can load equal parts. The swizzle repeats itself after 8 rows.
  TENON_HOST_DEVICE static constexpr bool can_share(int parts) {
    const OperandLoad load(parts);
    return load.has_whole_panels() || rows_of_tile % (8 * load.cuts()) == 0;
  }

  // parts: can_share(). extent: rows of the tile that are used, of a k-major operand; a multiple of
  // 8 * parts if they are not all.
  TENON_HOST_DEVICE explicit constexpr OperandLoad(int parts, int extent = Tile::rows)
      : parts_(static_cast<unsigned>(parts)), extent_(extent) {}

  // A part is whole panels or, where there are fewer panels than parts, some rows of one; else the same rows
  // of each panel.
  TENON_HOST_DEVICE constexpr int boxes() const {
    if (Tile::k_major) return 1;
    return static_cast<int>(has_whole_panels() ? panels / parts_ : is_in_a_panel() ? 1 : panels);
  }
  TENON_HOST_DEVICE constexpr int rows() const {
    if (Tile::k_major) return static_cast<int>(static_cast<unsigned>(extent_) / parts_);
    return static_cast<int>(has_whole_panels() ? rows_of_tile
                            : is_in_a_panel()  ? rows_of_tile * panels / parts_
                                               : rows_of_tile / parts_);
  }
  // Where a part begins, of an operand that is not k-major.
  TENON_HOST_DEVICE constexpr int first_panel(int part) const {
    if (Tile::k_major) return 0;
    return has_whole_panels() ? part * boxes()
           : is_in_a_panel()  ? static_cast<int>(static_cast<unsigned>(part) * panels / parts_)
                              : 0;
  }
  TENON_HOST_DEVICE constexpr int first_row(int part) const {
    if (has_whole_panels()) return 0;
    return (is_in_a_panel() ? part - first_panel(part) * static_cast<int>(cuts()) : part) * rows();
  }

  // Rows of a box.
  TENON_HOST_DEVICE constexpr int rows_of(int extent_left) const {
    if (!Tile::k_major || extent_left >= extent_) return rows();
    return extent_left > 0
               ? static_cast<int>(((static_cast<unsigned>(extent_left) + 7) / 8 + parts_ - 1) / parts_ * 8)
               : 0;
  }
  // Bytes that all parts bring together, at the start of the operand's part of a stage.
  TENON_HOST_DEVICE constexpr int bytes_of(int extent_left) const {
    return Tile::k_major ? rows_of(extent_left) * static_cast<int>(parts_) * Tile::row_bytes : Tile::bytes;
  }

 private:
  // Unsigned, so that the compiler divides by the powers of two of a LaunchedCluster with shifts.
  static constexpr unsigned panels = Tile::panels, rows_of_tile = Tile::rows;
  TENON_HOST_DEVICE constexpr bool has_whole_panels() const { return panels % parts_ == 0; }
  TENON_HOST_DEVICE constexpr bool is_in_a_panel() const { return parts_ % panels == 0; }
  // Into how many boxes a panel is cut along its rows.
  TENON_HOST_DEVICE constexpr unsigned cuts() const {
    return has_whole_panels() ? 1 : is_in_a_panel() ? parts_ / panels : parts_;
  }

  unsigned parts_;
  int extent_;
};

}  // namespace tenon
