// The addresses of a tile's elements: each is used once, chunks are contiguous, and the swizzle is that of
// TMA.
#include "tenon/shared/tile.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tenon {
namespace {

// What the CUDA driver documents of CU_TENSOR_MAP_SWIZZLE_32B, 64B and 128B, as operations on address bits:
// bit 4 is XORed with bit 7, bits 4..5 with bits 7..8, bits 4..6 with bits 7..9.
int tma_address(int address, int span) {
  const int bits = span == 128 ? 3 : span == 64 ? 2 : 1;
  const int mask = (1 << bits) - 1;
  return address ^ (((address >> 7) & mask) << 4);
}

template <class Tile>
void expect_a_place_for_each() {
  std::vector<int> taken(Tile::bytes, 0);
  for (int row = 0; row < Tile::rows; ++row) {
    for (int column = 0; column < Tile::columns; ++column) {
      const int at = Tile::offset(row, column);
      ASSERT_GE(at, 0);
      ASSERT_LE(at + Tile::element_bytes, Tile::bytes);
      for (int i = 0; i < Tile::element_bytes; ++i) ++taken[static_cast<std::size_t>(at + i)];
    }
  }
  for (const int times : taken) ASSERT_EQ(times, 1);
}

template <class Tile>
void expect_whole_chunks() {
  for (int row = 0; row < Tile::rows; ++row) {
    for (int column = 0; column < Tile::columns; ++column) {
      const int in_chunk = column % Tile::chunk_elements;
      const int chunk = Tile::offset(row, column - in_chunk);
      ASSERT_EQ(chunk % chunk_bytes, 0);
      ASSERT_EQ(Tile::offset(row, column), chunk + in_chunk * Tile::element_bytes);
    }
  }
}

// Panel by panel: a panel is one TMA box, with its rows one after the other.
template <class Tile>
void expect_the_swizzle_of_tma() {
  for (int row = 0; row < Tile::rows; ++row) {
    for (int column = 0; column < Tile::columns; ++column) {
      const int panel = column / Tile::panel_columns;
      const int unswizzled = panel * Tile::panel_bytes + row * Tile::row_bytes +
                             column % Tile::panel_columns * Tile::element_bytes;
      ASSERT_EQ(Tile::offset(row, column), tma_address(unswizzled, Tile::row_bytes))
          << "row " << row << " column " << column;
    }
  }
}

template <class Tile>
void expect_right() {
  expect_a_place_for_each<Tile>();
  expect_whole_chunks<Tile>();
  expect_the_swizzle_of_tma<Tile>();
}

TEST(SharedTile, RowsOf32Bytes) {
  expect_right<SharedTile<std::int8_t, 64, 32>>();
  expect_right<SharedTile<__half, 32, 16>>();
  expect_right<SharedTile<double, 128, 4>>();
}

TEST(SharedTile, RowsOf64Bytes) {
  expect_right<SharedTile<__half, 128, 32>>();
  expect_right<SharedTile<__nv_bfloat16, 16, 32>>();
  expect_right<SharedTile<float, 64, 16>>();
}

TEST(SharedTile, RowsOf128Bytes) {
  expect_right<SharedTile<__half, 256, 64>>();
  expect_right<SharedTile<std::uint8_t, 8, 128>>();
  expect_right<SharedTile<double, 24, 16>>();
}

TEST(SharedTile, WiderTilesAreSplitIntoPanels) {
  using Tile = SharedTile<__half, 32, 256>;
  static_assert(Tile::panels == 4 && Tile::panel_columns == 64 && Tile::panel_bytes == 32 * 128);
  expect_right<Tile>();
  expect_right<SharedTile<__half, 64, 128>>();
  expect_right<SharedTile<float, 16, 96>>();
}

TEST(SharedTile, AddressesStartAtItsBase) {
  constexpr SharedTile<__half, 128, 64> tile{4096};
  static_assert(tile.address(0, 0) == 4096);
  static_assert(tile.address(3, 16) == 4096 + 3 * 128 + ((2 ^ 3) * 16));
  static_assert(tile.address(8, 17) == 4096 + 8 * 128 + 2 * 16 + 2);
  SUCCEED();
}

TEST(OperandTile, RowsRunAlongTheContiguousDimension) {
  using KMajor = OperandTile<__half, 128, 32, true>;
  static_assert(KMajor::rows == 128 && KMajor::columns == 32 && KMajor::row_bytes == 64);
  using Other = OperandTile<__half, 128, 32, false>;
  static_assert(Other::rows == 32 && Other::columns == 128 && Other::panels == 2);
  static_assert(KMajor::bytes == Other::bytes && KMajor::bytes == 128 * 32 * 2);
  expect_right<KMajor>();
  expect_right<Other>();
}

}  // namespace
}  // namespace tenon
