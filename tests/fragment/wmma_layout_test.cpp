// The nvcuda::wmma 16x16x16 layouts against lanes printed on a GPU from matrices with elements numbered row
// by row.
#include <gtest/gtest.h>

#include <array>

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

}  // namespace
}  // namespace tenon
