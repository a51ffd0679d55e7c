// A tile in shared memory that knows its swizzle: where element (line, column) stands.
//
//   SharedTile<half, 128, 64> tile{tenon::ptx::shared_address(buffer)};   // 128 lines of 64 halves: 16 KB
//   tile.address(3, 16)                                                   // of the 16 bytes that start there
//
// Columns are contiguous. A line is at most 128 bytes; a wider tile is cut into panels of 128-byte lines that
// follow one another (that is how the copy engine writes it, one box a panel). Below: swizzle.hpp.
#pragma once

#include <cstdint>

#include "tenon/fragment/element.hpp"
#include "tenon/shared/swizzle.hpp"

namespace tenon {

// T: any element type of whole bytes. Columns * sizeof(T): 32, 64 or a multiple of 128 bytes.
// The tile starts on a multiple of 1024 bytes and takes `bytes`.
template <class T, int Lines, int Columns>
struct SharedTile {
  using Type = T;
  static constexpr int lines = Lines, columns = Columns;
  static constexpr int element_bytes = Element<T>::bits / 8;
  static_assert(Element<T>::bits % 8 == 0,
                "SharedTile: elements of less than a byte are stored packed; use uint8_t");
  static constexpr int line_bytes = Columns * element_bytes < 128 ? Columns * element_bytes : 128;
  static_assert(Columns * element_bytes % line_bytes == 0 && line_bytes % 32 == 0,
                "SharedTile: the columns must fill 32 or 64 bytes, or a multiple of 128");
  static constexpr int panel_columns = line_bytes / element_bytes;
  static constexpr int panels = Columns / panel_columns;
  static constexpr int panel_bytes = Lines * line_bytes;
  static constexpr int bytes = panels * panel_bytes;
  static constexpr int chunk_elements = chunk_bytes / element_bytes;

  std::uint32_t base;  // shared-window address of the first byte

  // Byte offset of the 16-byte chunk that holds (line, column), plus the element's place in it.
  TENON_HOST_DEVICE static constexpr int offset(int line, int column) {
    const int panel = column / panel_columns, in_panel = column % panel_columns;
    return panel * panel_bytes + line * line_bytes +
           swizzled_chunk<line_bytes>(line, in_panel / chunk_elements) * chunk_bytes +
           in_panel % chunk_elements * element_bytes;
  }

  TENON_HOST_DEVICE constexpr std::uint32_t address(int line, int column) const {
    return base + static_cast<std::uint32_t>(offset(line, column));
  }
};

// One operand's slab: `extent` rows of A (or columns of B) by `depth` of k.
// k_major: k is contiguous (A row-major, B column-major): lines run along m or n. Else lines run along k.
template <class T, int Extent, int Depth, bool KMajor>
struct OperandTile : SharedTile<T, KMajor ? Extent : Depth, KMajor ? Depth : Extent> {
  static constexpr int extent = Extent, depth = Depth;
  static constexpr bool k_major = KMajor;
};

}  // namespace tenon
