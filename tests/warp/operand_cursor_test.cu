// OperandCursor's addresses, passed on the CPU through a model of ldmatrix (PTX ISA, "ldmatrix"): each
// register must get its elements of the fragment, for every tile of the library and more.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "gemm/kernel.hpp"
#include "tenon/warp/operand_cursor.hpp"

namespace tenon {
namespace {

struct Place {
  int extent, k;  // along m (or n), along k
};

// The matrix element at each 16-bit element of the tile's memory.
template <class Tile>
std::vector<Place> memory_of() {
  std::vector<Place> memory(Tile::bytes / 2);
  for (int e = 0; e < Tile::extent; ++e) {
    for (int k = 0; k < Tile::depth; ++k) {
      const int at = Tile::k_major ? Tile::offset(e, k) : Tile::offset(k, e);
      memory[static_cast<std::size_t>(at / 2)] = {e, k};
    }
  }
  return memory;
}

// Element j (0 or 1) of register r of a lane, after ldmatrix.x4: lane 8r + i points at row i of matrix r;
// lane 4g + t receives elements 2t and 2t + 1 of row g; with .trans those of column g in rows 2t and 2t + 1.
Place received(const std::vector<Place>& memory, const int (&address)[32], int lane, int r, int j,
               bool trans) {
  const int g = lane / 4, pair = 2 * (lane % 4) + j;
  const int row = trans ? pair : g, column = trans ? g : pair;
  return memory[static_cast<std::size_t>(address[8 * r + row] / 2 + column)];
}

template <class Tile, Operand operand, int Part>
void expect_fragments() {
  using Cursor = OperandCursor<Tile, operand, Part>;
  const std::vector<Place> memory = memory_of<Tile>();
  for (int first = 0; first < Tile::extent; first += Part) {
    for (int i = 0; i < Part / 16; ++i) {
      for (int k_step = 0; k_step < Tile::depth / 16; ++k_step) {
        int address[32];
        for (int lane = 0; lane < 32; ++lane) {
          address[lane] = Cursor::step(Cursor::lane_offset(lane, first), i, k_step);
          ASSERT_TRUE(address[lane] % 16 == 0 && address[lane] >= 0 && address[lane] + 16 <= Tile::bytes);
        }
        for (int lane = 0; lane < 32; ++lane) {
          for (int element = 0; element < 8; ++element) {
            const Place found = received(memory, address, lane, element / 2, element % 2, !Tile::k_major);
            Place wanted{first + 16 * i, 16 * k_step};
            if (operand == Operand::a) {
              const Coord at = LayoutA<m16n8k16, __half>::coord(lane, element);
              wanted.extent += at.row;
              wanted.k += at.col;
            } else {  // two fragments of 8 columns
              const Coord at = LayoutB<m16n8k16, __half>::coord(lane, element % 4);
              wanted.extent += at.col + element / 4 * 8;
              wanted.k += at.row;
            }
            ASSERT_TRUE(found.extent == wanted.extent && found.k == wanted.k)
                << "lane " << lane << " element " << element << " of block (" << i << ", " << k_step
                << ") from " << first << ": found (" << found.extent << ", " << found.k << "), wanted ("
                << wanted.extent << ", " << wanted.k << ")";
          }
        }
      }
    }
  }
  EXPECT_EQ(Cursor::conflicts(), 0);
}

// An operand's k-tile as kernels use it: extent of the CTA, depth, and the part of a warp.
struct Walk {
  int extent, depth, part;
};
std::vector<Walk>& tested_walks() {
  static std::vector<Walk> walks;
  return walks;
}

template <int Extent, int Depth, int Part>
void expect_walk() {
  SCOPED_TRACE(::testing::Message() << Extent << " x " << Depth << ", parts of " << Part);
  tested_walks().push_back({Extent, Depth, Part});
  expect_fragments<OperandTile<__half, Extent, Depth, true>, Operand::a, Part>();
  expect_fragments<OperandTile<__half, Extent, Depth, true>, Operand::b, Part>();
  if constexpr ((Part & (Part - 1)) == 0 && (Extent * 2 % 128 == 0 || Extent == 32)) {
    expect_fragments<OperandTile<__half, Extent, Depth, false>, Operand::a, Part>();
    expect_fragments<OperandTile<__half, Extent, Depth, false>, Operand::b, Part>();
  }
}

template <int Depth>
void expect_walks() {
  expect_walk<32, Depth, 16>();
  expect_walk<32, Depth, 32>();
  expect_walk<64, Depth, 16>();
  expect_walk<64, Depth, 32>();
  expect_walk<64, Depth, 64>();
  expect_walk<96, Depth, 96>();
  expect_walk<128, Depth, 32>();
  expect_walk<128, Depth, 64>();
  expect_walk<128, Depth, 128>();
  expect_walk<192, Depth, 64>();
  expect_walk<192, Depth, 96>();
  expect_walk<256, Depth, 32>();
  expect_walk<256, Depth, 64>();
  expect_walk<256, Depth, 128>();
}

TEST(OperandCursor, DeliversFragmentsWithoutConflicts) {
  expect_walks<32>();
  expect_walks<64>();
}

TEST(OperandCursor, DeliversFragmentsOfTheLeastDepth) {
  expect_fragments<OperandTile<__half, 64, 16, true>, Operand::a, 32>();
  expect_fragments<OperandTile<__half, 64, 16, true>, Operand::b, 32>();
  expect_fragments<OperandTile<__half, 64, 16, false>, Operand::a, 32>();
  expect_fragments<OperandTile<__half, 64, 16, false>, Operand::b, 32>();
}

// A tile that is added to the library must be added above.
TEST(OperandCursor, EveryShippedTileWasTested) {
  tested_walks().clear();
  expect_walks<32>();
  expect_walks<64>();
  const auto tested = [](int extent, int depth, int part) {
    return std::any_of(tested_walks().begin(), tested_walks().end(), [=](const Walk& walk) {
      return walk.extent == extent && walk.depth == depth && walk.part == part;
    });
  };
  for (const Kernel& kernel : kernels()) {
    if (kernel.instruction == Instruction::wgmma) continue;  // reads shared memory by descriptors
    EXPECT_TRUE(tested(kernel.tile_m, kernel.tile_k, kernel.warp_m)) << "A of " << kernel.name;
    EXPECT_TRUE(tested(kernel.tile_n, kernel.tile_k, kernel.warp_n)) << "B of " << kernel.name;
  }
}

}  // namespace
}  // namespace tenon
