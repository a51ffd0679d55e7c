// A tile in shared memory with its swizzle: computes the address of element (row, column).
//
//   SharedTile<half, 128, 64> tile{tenon::ptx::shared_address(buffer)};   // 128 rows of 64 halves: 16 KB
//   tile.address(3, 16)                                                  // of the 16 bytes that start there
//
// Columns are contiguous. In shared memory a row has at most 128 bytes (`row_bytes`). A wider tile is stored
// as panels with rows of that length, one panel after the other; TMA writes one box per panel. Builds on
// swizzle.hpp.
#pragma once

#include "tenon/fragment/element.hpp"
#include "tenon/ptx/standard.hpp"
#include "tenon/shared/swizzle.hpp"

namespace tenon {

// T: any element type of whole bytes. Columns * sizeof(T): 32, 64 or a multiple of 128 bytes.
// The tile starts on a multiple of 1024 bytes and takes `bytes`. MostRowBytes: 128, or 64, and a panel's rows
// have no more.
template <class T, int Rows, int Columns, int MostRowBytes = 128>
struct SharedTile {
  using Type = T;
  static constexpr int rows = Rows, columns = Columns;
  static constexpr int element_bytes = Element<T>::bits / 8;
  static_assert(Element<T>::bits % 8 == 0,
                "SharedTile: elements of less than a byte are stored packed; use uint8_t");
  static constexpr int row_bytes =
      Columns * element_bytes < MostRowBytes ? Columns * element_bytes : MostRowBytes;
  static_assert(Columns * element_bytes % row_bytes == 0 && row_bytes % 32 == 0,
                "SharedTile: the columns must fill 32 or 64 bytes, or a multiple of 128");
  static constexpr int panel_columns = row_bytes / element_bytes;
  static constexpr int panels = Columns / panel_columns;
  static constexpr int panel_bytes = Rows * row_bytes;
  static constexpr int bytes = panels * panel_bytes;
  static constexpr int chunk_elements = chunk_bytes / element_bytes;

  std::uint32_t base;  // shared-window address of the first byte

  // Byte offset of element (row, column): the offset of its 16-byte chunk plus its offset in the chunk.
  TENON_HOST_DEVICE static constexpr int offset(int row, int column) {
    const int panel = column / panel_columns, in_panel = column % panel_columns;
    return panel * panel_bytes + row * row_bytes +
           swizzled_chunk<row_bytes>(row, in_panel / chunk_elements) * chunk_bytes +
           in_panel % chunk_elements * element_bytes;
  }

  TENON_HOST_DEVICE constexpr std::uint32_t address(int row, int column) const {
    return base + static_cast<std::uint32_t>(offset(row, column));
  }
};

// The k-tile of one operand: `extent` rows of A (or columns of B) by `depth` of k. k_major: k is contiguous
// (A row-major, B column-major), and each row in shared memory is at one m or n. Else each row is at one k.
//
// ldmatrix reads 16 bytes of eight rows at a time. It has no form for f64: where k is contiguous a lane loads
// two f64 instead. Eight lanes then read 64 bytes of two rows at a time, and these are on different banks if
// two rows share 128 bytes.
template <class T, bool KMajor>
inline constexpr int most_row_bytes = Element<T>::bits == 64 && KMajor ? 64 : 128;
template <class T, int Extent, int Depth, bool KMajor>
struct OperandTile
    : SharedTile<T, KMajor ? Extent : Depth, KMajor ? Depth : Extent, most_row_bytes<T, KMajor>> {
  static constexpr int extent = Extent, depth = Depth;
  static constexpr bool k_major = KMajor;
};

}  // namespace tenon
