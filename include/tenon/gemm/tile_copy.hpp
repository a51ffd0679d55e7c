// How a tile's slabs of an operand are copied: by so many blocks of a cluster, each a part, to all of them.
// Lines beyond the matrix would be filled with zeros, but as if all of them were fetched from one place:
// where many multiprocessors ask for such lines each takes several times as long as one that is there
// (microbench/HISTORY.md). So the last tile along m or n, which reaches beyond the matrix, has boxes of its
// own: of operands that are k-major, in kernels that can afford it (GemmWgmma::cuts: tiles below 128x224, not
// in eighths), if what they leave of a slab can be cleared in time (CopiedOperand of
// src/gemm/wgmma_kernels.cuh). That is not copied, and of its sums nothing is stored. All other slabs are
// copied whole, zeros included. Plain C++17. Below: shared/tile.hpp.
#pragma once

#include "tenon/shared/tile.hpp"

namespace tenon {

// Tile: OperandTile. Parts: blocks that copy it. `rest`, below: rows of A (columns of B) from the tile's
// first on, which may be more than it has, or none.
template <class Tile_, int Parts>
struct TileCopy {
  using Tile = Tile_;
  // Of a slab that is not k-major a part is whole panels, or where they are too few the same lines of each.
  static constexpr bool by_panels = !Tile::k_major && Tile::panels % Parts == 0;
  static constexpr int panels = by_panels ? Tile::panels / Parts : Tile::panels;
  static constexpr int lines = by_panels ? Tile::lines : Tile::lines / Parts;
  static_assert(!Tile::k_major || Tile::panels == 1,
                "TileCopy: lines along k are copied one box a slab, so the slab's k must fit into a line");
  static_assert(lines % 8 == 0 && lines * Parts * panels >= Tile::lines * Tile::panels,
                "TileCopy: a part of a slab must be whole groups of 8 lines");

  // Of a box. The swizzle repeats itself after 8.
  TENON_HOST_DEVICE static constexpr int lines_of(int rest) {
    if (!Tile::k_major || rest >= lines * Parts) return lines;
    return rest > 0 ? (rest + 8 * Parts - 1) / (8 * Parts) * 8 : 0;
  }
  // That all parts bring: the first ones of the slab.
  TENON_HOST_DEVICE static constexpr int bytes_of(int rest) {
    return Tile::k_major ? lines_of(rest) * Parts * Tile::line_bytes : Tile::bytes;
  }
};

}  // namespace tenon
