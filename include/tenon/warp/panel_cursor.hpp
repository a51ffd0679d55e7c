// The shared-memory addresses of one lane as a warp walks a tile of many panels with ldmatrix.x4, from the
// tile's first element on: an OperandCursor (operand_cursor.hpp) without its limits on depth and extent, as
// attention needs it for rows of 64 to 512 bytes. Below: shared/tile.hpp, fragment/ldmatrix_rows.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/shared/bank_conflicts.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {

// Rows of a head dimension, which is contiguous: Q, K, V. As an OperandTile its k runs along the rows.
template <class T, int Rows, int Columns>
struct HeadTile : SharedTile<T, Rows, Columns,
                             Columns % 64 == 0   ? 128
                             : Columns % 32 == 0 ? 64
                                                 : 32> {
  static_assert(Element<T>::bits == 16, "HeadTile: the elements of Q, K and V must have 16 bits");
  static constexpr int extent = Columns, depth = Rows;
  static constexpr bool k_major = false;
};

// What the four core matrices of one ldmatrix.x4 are, from 16 rows x 16 columns of the tile: one fragment of
// A (rows are m, columns k); two of B side by side whose k runs along the columns (rows are n); two of B
// whose k runs along the rows (columns are n), by ldmatrix.trans.
enum class Load16x16 { a, b_k_in_columns, b_k_in_rows };

template <class Tile, Load16x16 what>
class PanelCursor {
  using T = typename Tile::Type;
  static_assert(Element<T>::bits == 16, "PanelCursor: a block of 16 x 16 needs elements of 16 bits");
  static_assert(Tile::rows % 16 == 0 && Tile::columns % 16 == 0,
                "PanelCursor: the tile's rows and columns must be multiples of 16");
  static constexpr int blocks_per_panel = Tile::row_bytes / 32;

 public:
  // Byte offset, for this lane, of the first block of 16 x 16 in the rows that start at `row`, a multiple of
  // 16.
  TENON_HOST_DEVICE static constexpr int lane_offset(int lane, int row) {
    using Shape = MmaShape<16, 8, 16>;
    if constexpr (what == Load16x16::a) {
      const Coord at = ldmatrix_row_a<LayoutA<Shape, T>, true>(lane);
      return Tile::offset(row + at.row, at.col);
    } else {
      constexpr bool k_major = what == Load16x16::b_k_in_columns;
      const Coord at = ldmatrix_row_b<LayoutB<Shape, T>, k_major, 2>(lane);
      return k_major ? Tile::offset(row + at.col, at.row) : Tile::offset(row + at.row, at.col);
    }
  }
  // That of the block (i, j): i along the rows, j along the columns. The swizzle repeats every 8 rows, so a
  // step along the rows adds a constant; one along the columns flips bits within a panel.
  TENON_HOST_DEVICE static constexpr int step(int lane_offset, int i, int j) {
    return (lane_offset ^ (j % blocks_per_panel * 32)) + j / blocks_per_panel * Tile::panel_bytes +
           i * 16 * Tile::row_bytes;
  }

  // Wavefronts beyond the least, over the whole tile. Kernels assert that there are none.
  TENON_HOST_DEVICE static constexpr int conflicts() {
    int total = 0;
    for (int j = 0; j < blocks_per_panel; ++j) {
      LaneAddresses address{};
      for (int lane = 0; lane < 32; ++lane) address.at[lane] = step(lane_offset(lane, 0), 0, j);
      total += matrix_bank_conflicts(address, 4);
    }
    return total;
  }

  __device__ __forceinline__ explicit PanelCursor(int row)
      : lane_offset_(static_cast<std::uint32_t>(lane_offset(lane_id(), row))) {}

  __device__ __forceinline__ void load(std::uint32_t (&reg)[4], std::uint32_t tile_base, int i, int j) const {
    ldmatrix<what == Load16x16::b_k_in_rows>(
        reg, tile_base + static_cast<std::uint32_t>(step(static_cast<int>(lane_offset_), i, j)));
  }

 private:
  std::uint32_t lane_offset_;
};

}  // namespace tenon
