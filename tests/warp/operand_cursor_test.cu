// OperandCursor's addresses, passed on the CPU through a model of ldmatrix (PTX ISA, "ldmatrix"): each
// register must get its elements of the fragment, for every tile of the library and more.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "gemm/kernel.hpp"
#include "tenon/warp/operand_cursor_rounded.hpp"

namespace tenon {
namespace {

struct Place {
  int extent, k;  // along m (or n), along k
  int byte;       // of the element
};

// What each byte of the tile's memory belongs to.
template <class Tile>
std::vector<Place> memory_of() {
  std::vector<Place> memory(Tile::bytes);
  for (int e = 0; e < Tile::extent; ++e) {
    for (int k = 0; k < Tile::depth; ++k) {
      const int at = Tile::k_major ? Tile::offset(e, k) : Tile::offset(k, e);
      for (int byte = 0; byte < Tile::element_bytes; ++byte)
        memory[static_cast<std::size_t>(at + byte)] = {e, k, byte};
    }
  }
  return memory;
}

// Byte b of register r of a lane, after ldmatrix.x4, whose elements have 16 bits: lane 8r + i points at row i
// of matrix r; lane 4g + t receives elements 2t and 2t + 1 of row g; with .trans those of column g in rows 2t
// and 2t + 1.
Place received(const std::vector<Place>& memory, const int (&address)[32], int lane, int r, int b,
               bool trans) {
  const int g = lane / 4, pair = 2 * (lane % 4) + b / 2;
  const int row = trans ? pair : g, column = trans ? g : pair;
  return memory[static_cast<std::size_t>(address[8 * r + row] + 2 * column + b % 2)];
}

template <class Tile, Operand operand, int Part>
void expect_fragments() {
  using Cursor = OperandCursor<Tile, operand, Part>;
  using T = typename Tile::Type;
  using Shape = MmaOf<T>;
  constexpr int register_elements = 4 / Tile::element_bytes;
  const std::vector<Place> memory = memory_of<Tile>();
  for (int first = 0; first < Tile::extent; first += Part) {
    for (int i = 0; i < Part / 16; ++i) {
      for (int k_step = 0; k_step < Tile::depth / Shape::k; ++k_step) {
        int address[32];
        for (int lane = 0; lane < 32; ++lane) {
          address[lane] = Cursor::step(Cursor::lane_offset(lane, first), i, k_step);
          ASSERT_TRUE(address[lane] % 16 == 0 && address[lane] >= 0 && address[lane] + 16 <= Tile::bytes);
        }
        for (int lane = 0; lane < 32; ++lane) {
          for (int byte = 0; byte < 16; ++byte) {  // of the lane's four registers
            const int element = byte / Tile::element_bytes;
            const Place found = received(memory, address, lane, byte / 4, byte % 4, !Tile::k_major);
            Place wanted{first + 16 * i, Shape::k * k_step, byte % Tile::element_bytes};
            if (operand == Operand::a) {
              const Coord at = LayoutA<Shape, T>::coord(lane, element);
              wanted.extent += at.row;
              wanted.k += at.col;
            } else {  // two fragments of 8 columns
              const int of_fragment = 2 * register_elements;
              const Coord at = LayoutB<Shape, T>::coord(lane, element % of_fragment);
              wanted.extent += at.col + element / of_fragment * 8;
              wanted.k += at.row;
            }
            ASSERT_TRUE(found.extent == wanted.extent && found.k == wanted.k && found.byte == wanted.byte)
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

// An operand's k-tile as kernels use it: extent of the CTA, depth, the part of a warp, bytes of an element.
struct Walk {
  int extent, depth, part, element;
};
std::vector<Walk>& tested_walks() {
  static std::vector<Walk> walks;
  return walks;
}

template <class T, int Extent, int Depth, int Part>
void expect_walk() {
  SCOPED_TRACE(::testing::Message() << Extent << " x " << Depth << ", parts of " << Part);
  constexpr int element = Element<T>::bits / 8;
  tested_walks().push_back({Extent, Depth, Part, element});
  expect_fragments<OperandTile<T, Extent, Depth, true>, Operand::a, Part>();
  expect_fragments<OperandTile<T, Extent, Depth, true>, Operand::b, Part>();
  if constexpr (element == 2 && (Part & (Part - 1)) == 0 && (Extent * 2 % 128 == 0 || Extent == 32)) {
    expect_fragments<OperandTile<T, Extent, Depth, false>, Operand::a, Part>();
    expect_fragments<OperandTile<T, Extent, Depth, false>, Operand::b, Part>();
  }
}

template <class T, int Depth>
void expect_walks() {
  expect_walk<T, 32, Depth, 16>();
  expect_walk<T, 32, Depth, 32>();
  expect_walk<T, 64, Depth, 16>();
  expect_walk<T, 64, Depth, 32>();
  expect_walk<T, 64, Depth, 64>();
  expect_walk<T, 96, Depth, 96>();
  expect_walk<T, 128, Depth, 32>();
  expect_walk<T, 128, Depth, 64>();
  expect_walk<T, 128, Depth, 128>();
  expect_walk<T, 192, Depth, 64>();
  expect_walk<T, 192, Depth, 96>();
  expect_walk<T, 256, Depth, 32>();
  expect_walk<T, 256, Depth, 64>();
  expect_walk<T, 256, Depth, 128>();
}

// k-tiles of 64 and of 128 bytes.
void expect_all_walks() {
  expect_walks<__half, 32>();
  expect_walks<__half, 64>();
  expect_walks<tf32, 16>();
  expect_walks<tf32, 32>();
  expect_walks<e4m3, 64>();
  expect_walks<std::int8_t, 128>();
}

TEST(OperandCursor, DeliversFragmentsWithoutConflicts) {
  expect_all_walks();
}

TEST(OperandCursor, DeliversFragmentsOfTheLeastDepth) {
  expect_fragments<OperandTile<__half, 64, 16, true>, Operand::a, 32>();
  expect_fragments<OperandTile<__half, 64, 16, true>, Operand::b, 32>();
  expect_fragments<OperandTile<__half, 64, 16, false>, Operand::a, 32>();
  expect_fragments<OperandTile<__half, 64, 16, false>, Operand::b, 32>();
  expect_fragments<OperandTile<tf32, 64, 8, true>, Operand::a, 32>();
  expect_fragments<OperandTile<std::int8_t, 64, 32, true>, Operand::b, 32>();
}

// Where m (n) is contiguous, f32 that is rounded is loaded word by word: k = t and t + 4 of column g, in an
// order that depends on the lane, and on banks of their own.
template <int Extent, int Part>
void expect_words() {
  using Tile = OperandTile<Rounded<__half>, Extent, 32, false>;
  using Cursor = OperandCursor<Tile, Operand::b, Part>;
  const std::vector<Place> memory = memory_of<Tile>();
  for (int first = 0; first < Extent; first += Part) {
    for (int at = 0; at < Part / 16 * 4 * 4; ++at) {
      const int i = at / 16, k_part = at / 4 % 4, half = at / 2 % 2, second = at % 2;
      for (int lane = 0; lane < 32; ++lane) {
        const int offset = Cursor::step(Cursor::lane_offset(lane, first), i, k_part, half, second);
        ASSERT_TRUE(offset % 4 == 0 && offset >= 0 && offset < Tile::bytes);
        const Place found = memory[static_cast<std::size_t>(offset)];
        const bool is_later = (lane % 2 == 0) == (second == 1);
        EXPECT_EQ(found.extent, first + 16 * i + 8 * half + lane / 4) << "lane " << lane;
        EXPECT_EQ(found.k, 8 * k_part + lane % 4 + (is_later ? 4 : 0)) << "lane " << lane;
        EXPECT_EQ(found.byte, 0);
      }
    }
  }
  EXPECT_EQ(Cursor::conflicts(), 0);
}

TEST(OperandCursor, FindsTheWordsThatAreRounded) {
  expect_words<64, 32>();
  expect_words<128, 64>();
  expect_words<128, 16>();
}

// A tile that is added to the library must be added above.
TEST(OperandCursor, EveryShippedTileWasTested) {
  tested_walks().clear();
  expect_all_walks();
  for (const Kernel& kernel : kernels()) {
    if (kernel.instruction == Instruction::wgmma) continue;  // reads shared memory by descriptors
    if (kernel.type == Type::f64) continue;                  // has a cursor of its own (f64_test.cpp),
    if (kernel.rounds_f32) continue;                         // and so have these
    const auto tested = [&](int extent, int part) {
      return std::any_of(tested_walks().begin(), tested_walks().end(), [&](const Walk& walk) {
        return walk.extent == extent && walk.depth == kernel.tile_k && walk.part == part &&
               walk.element == static_cast<int>(bytes(kernel.type));
      });
    };
    EXPECT_TRUE(tested(kernel.tile_m, kernel.warp_m)) << "A of " << kernel.name;
    EXPECT_TRUE(tested(kernel.tile_n, kernel.warp_n)) << "B of " << kernel.name;
  }
}

}  // namespace
}  // namespace tenon
