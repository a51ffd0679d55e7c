// The nvcuda::wmma layouts against lanes printed on a GPU from matrices with elements numbered row by row,
// and against the emulator, which reads and writes such fragments by rules of its own.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "emulator/numerics/fragments.hpp"
#include "tenon/fragment/catalogue.hpp"
#include "tenon/fragment/layout.hpp"

namespace tenon {
namespace {

template <class Layout>
std::array<int, 8> held_by(int lane) {
  static_assert(Layout::elements == 8 && Layout::rows == 16 && Layout::cols == 16);
  std::array<int, 8> numbers{};
  for (int e = 0; e < 8; ++e) {
    const Coord at = Layout::coord(lane, e);
    numbers[static_cast<std::size_t>(e)] = 16 * at.row + at.col;
  }
  return numbers;
}
using Lane = std::array<int, 8>;

TEST(WmmaLayout, MatrixAIsWhatTheGpuPrinted) {
  using A = LayoutA<wmma16x16x16, __half, Major::row>;
  EXPECT_EQ(held_by<A>(0), (Lane{0, 1, 128, 129, 8, 9, 136, 137}));
  EXPECT_EQ(held_by<A>(1), (Lane{2, 3, 130, 131, 10, 11, 138, 139}));
  EXPECT_EQ(held_by<A>(31), (Lane{118, 119, 246, 247, 126, 127, 254, 255}));
}

TEST(WmmaLayout, MatrixBIsWhatTheGpuPrinted) {
  using B = LayoutB<wmma16x16x16, __half, Major::row>;
  EXPECT_EQ(held_by<B>(0), (Lane{0, 16, 128, 144, 8, 24, 136, 152}));
  EXPECT_EQ(held_by<B>(1), (Lane{32, 48, 160, 176, 40, 56, 168, 184}));
  EXPECT_EQ(held_by<B>(31), (Lane{103, 119, 231, 247, 111, 127, 239, 255}));
}

// One wmma product is two m16n8k16: its fragments are theirs, the second 8 columns to the right.
TEST(WmmaLayout, IsTwoMmaFragmentsSideBySide) {
  using A = LayoutA<wmma16x16x16, __half, Major::column>;
  using B = LayoutB<wmma16x16x16, __half, Major::column>;
  using C = LayoutC<wmma16x16x16, float>;
  using C16 = LayoutC<wmma16x16x16, __half>;
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < 8; ++e) {
      EXPECT_EQ(A::coord(lane, e), (LayoutA<m16n8k16, __half>::coord(lane, e)));
      const Coord b = LayoutB<m16n8k16, __half>::coord(lane, e % 4);
      EXPECT_EQ(B::coord(lane, e), (Coord{b.row, b.col + (e < 4 ? 0 : 8)}));
      const Coord c = LayoutC<m16n8k16, float>::coord(lane, e % 4);
      EXPECT_EQ(C::coord(lane, e), (Coord{c.row, c.col + (e < 4 ? 0 : 8)}));
      EXPECT_EQ(C16::coord(lane, e), C::coord(lane, e));
    }
  }
}

// 8x32 is 32x8 transposed, with A and B in each other's place.
TEST(WmmaLayout, WideIsTheTransposeOfTall) {
  const auto transpose = [](Coord at) { return Coord{at.col, at.row}; };
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < 8; ++e) {
      EXPECT_EQ((LayoutC<wmma8x32x16, float>::coord(lane, e)),
                transpose(LayoutC<wmma32x8x16, float>::coord(lane, e)));
    }
    for (int e = 0; e < 4; ++e) {
      EXPECT_EQ((LayoutA<wmma8x32x16, std::int8_t>::coord(lane, e)),
                transpose(LayoutB<wmma32x8x16, std::int8_t>::coord(lane, e)));
    }
    for (int e = 0; e < 16; ++e) {
      EXPECT_EQ((LayoutB<wmma8x32x16, __half>::coord(lane, e)),
                transpose(LayoutA<wmma32x8x16, __half>::coord(lane, e)));
    }
  }
}

// "wmma32x8x16" as the emulator has it.
emulator::numerics::Shape shape_of(const char* name) {
  emulator::numerics::Shape shape;
  EXPECT_EQ(std::sscanf(name, "wmma%dx%dx%d", &shape.m, &shape.n, &shape.k), 3) << name;
  return shape;
}
emulator::ptx::Type type_of(const std::string& name) {
  using emulator::ptx::Type;
  return name == "f16"    ? Type::f16
         : name == "bf16" ? Type::bf16
         : name == "tf32" ? Type::tf32
         : name == "f64"  ? Type::f64
         : name == "s8"   ? Type::s8
         : name == "u8"   ? Type::u8
         : name == "s32"  ? Type::s32
                          : Type::f32;
}

TEST(WmmaLayout, EveryShapeIsThatOfTheEmulator) {
  using emulator::numerics::Matrix;
  int compared = 0;
  for (const NamedLayout& layout : layouts()) {
    if (std::strncmp(layout.shape, "wmma", 4) != 0) continue;
    const std::string label = std::string(layout.shape) + " " + layout.type + " " + layout.operand;
    const Matrix matrix = layout.operand[0] == 'a'   ? Matrix::a
                          : layout.operand[0] == 'b' ? Matrix::b
                                                     : Matrix::c;
    const auto fragment =
        emulator::numerics::wmma_fragment(matrix, shape_of(layout.shape), type_of(layout.type));
    ASSERT_EQ(fragment.registers(), layout.registers) << label;
    for (int lane = 0; lane < 32; ++lane) {
      for (int e = 0; e < layout.elements; ++e) {
        const auto at = fragment.at(lane, e / fragment.elements(), e % fragment.elements());
        ASSERT_EQ(layout.coord(lane, e), (Coord{at.row, at.column})) << label << " lane " << lane << " " << e;
      }
    }
    ++compared;
  }
  // Three shapes of four operand and three accumulator types, one each of tf32 and f64.
  EXPECT_EQ(compared, 3 * (4 * 4 + 3) + 2 * (4 + 1));
}

}  // namespace
}  // namespace tenon
