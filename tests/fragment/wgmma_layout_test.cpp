// The layouts of wgmma's registers against the figures of the PTX ISA (9.0, section 9.7.15.5.1.1), drawn
// again here register by register: for one warp they list, for each group of four threads, what stands in
// which of its rows.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tenon/fragment/catalogue.hpp"

namespace tenon {
namespace {

static_assert(LayoutC<WgmmaShape<256, 16>, float>::registers == 128);
static_assert(LayoutC<WgmmaShape<256, 16>, __half>::registers == 64);
static_assert(LayoutC<WgmmaShape<24, 32>, std::int32_t>::registers == 12);
static_assert(LayoutA<WgmmaShape<64, 16>, __half>::registers == 4 &&
              LayoutA<WgmmaShape<64, 256>, b1>::registers == 4);
static_assert(LayoutC<WgmmaShape<64, 16>, float>::lanes == 128 && LayoutA<m16n8k16, __half>::lanes == 32);
static_assert(LayoutC<WgmmaShape<64, 16>, float>::coord(33, 6) == Coord{24, 10});
static_assert(!wgmma_has_operand<WgmmaShape<64, 16>, tf32>() &&
              !wgmma_has_operand<WgmmaShape<40, 32>, std::int8_t>());
static_assert(wgmma_has_operand<WgmmaShape<40, 32>, e4m3>() && wgmma_has_operand<WgmmaShape<24, 256>, b1>());
static_assert(!AccumulatorExists<WgmmaShape<64, 8>, __half>::value &&
              !AccumulatorExists<WgmmaShape<4, 16>, float>::value);

// Columns 8j .. 8j + 7 of D, rows g and g + 8 of a warp's 16, as the figure shows them: "T0: {d0, d1}" and so
// on. The entry is the number of the element within the 8 columns.
constexpr int figure_d[2][8] = {{0, 1, 0, 1, 0, 1, 0, 1}, {2, 3, 2, 3, 2, 3, 2, 3}};

TEST(WgmmaLayout, OfDIsThatOfTheFigure) {
  int layouts_seen = 0;
  for (const NamedLayout& layout : layouts()) {
    if (layout.lanes != 128 || layout.operand[0] != 'c') continue;
    ++layouts_seen;
    EXPECT_EQ(layout.rows, 64);
    EXPECT_EQ(layout.elements, layout.cols / 2);
    for (int row = 0; row < 64; ++row) {
      for (int col = 0; col < layout.cols; ++col) {
        const int warp = row / 16, in_warp = row % 16;
        const int thread =
            32 * warp + in_warp % 8 * 4 + col % 8 / 2;  // T0 T0 T1 T1 T2 T2 T3 T3, 8 rows of them
        const int element = col / 8 * 4 + figure_d[in_warp / 8][col % 8];
        const Owner who = layout.owner(row, col);
        ASSERT_EQ(who.lane, thread) << layout.shape << " " << layout.type << " (" << row << ", " << col
                                    << ")";
        ASSERT_EQ(who.element, element)
            << layout.shape << " " << layout.type << " (" << row << ", " << col << ")";
      }
    }
  }
  EXPECT_EQ(layouts_seen,
            32 + 2 * 32 + 2 * 32 + 18 + 18);  // k8, k16, k32 with f32 and f16, and with s32; k256
}

// A of 16 rows and four columns of registers: {a0, a2} above {a1, a3}, where a2 and a3 are 16 bytes to the
// right.
TEST(WgmmaLayout, OfAIsThatOfTheFigure) {
  constexpr int figure_a[2][2] = {{0, 2}, {1, 3}};  // [row / 8][bytes / 16]
  int layouts_seen = 0;
  for (const NamedLayout& layout : layouts()) {
    if (layout.lanes != 128 || layout.operand[0] != 'a') continue;
    ++layouts_seen;
    EXPECT_EQ(layout.registers, 4);
    for (int row = 0; row < 64; ++row) {
      for (int col = 0; col < layout.cols; ++col) {
        const int bit = col * layout.bits;
        const Owner who = layout.owner(row, col);
        ASSERT_EQ(who.lane, 32 * (row / 16) + row % 8 * 4 + bit % 128 / 32)
            << layout.shape << " " << layout.type;
        ASSERT_EQ(layout.register_of(who.element), figure_a[row % 16 / 8][bit / 128]) << layout.shape;
        ASSERT_EQ(layout.bit_of(who.element), bit % 32) << layout.shape;
      }
    }
  }
  EXPECT_EQ(layouts_seen, 32 + 2 * 32 + 2 * 32 + 2 * 18 + 18);
}

TEST(WgmmaLayout, IsFoundByNameForEveryN) {
  for (int n = 8; n <= 256; n += 8) {
    const std::string width = "m64n" + std::to_string(n) + "k";
    const bool integers = n < 32 || n % 16 == 0;
    EXPECT_NE(find_layout((width + "16").c_str(), "f16", "a"), nullptr) << n;
    EXPECT_NE(find_layout((width + "16").c_str(), "f16", "d"), nullptr) << n;
    EXPECT_NE(find_layout((width + "8").c_str(), "f32", "c"), nullptr) << n;
    EXPECT_EQ(find_layout((width + "8").c_str(), "f16", "c"), nullptr) << n;
    EXPECT_EQ(find_layout((width + "32").c_str(), "s32", "c") != nullptr, integers) << n;
    EXPECT_EQ(find_layout((width + "256").c_str(), "b1", "a") != nullptr, integers) << n;
    EXPECT_EQ(find_layout((width + "16").c_str(), "f16", "b"), nullptr) << n;  // B is in shared memory
  }
}

}  // namespace
}  // namespace tenon
