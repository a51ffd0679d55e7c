// Every layout of the catalogue: against the PTX ISA's own formulas, and for the properties that make it a
// layout.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "fragment/isa_tables.hpp"
#include "tenon/fragment/catalogue.hpp"

namespace tenon {

bool operator<(Owner x, Owner y) {
  return x.lane != y.lane ? x.lane < y.lane : x.element < y.element;
}

namespace {

// Usable at compile time, with no CUDA header in sight.
static_assert(LayoutA<m16n8k16, __half>::coord(1, 2) == Coord{8, 2});
static_assert(LayoutA<m16n8k16, __half>::owner(8, 2) == Owner{1, 2});
static_assert(LayoutA<m16n8k16, __half>::coord(1, 2) != Coord{2, 8});
static_assert(LayoutA<m16n8k16, __half>::registers == 4 && LayoutA<m16n8k16, __half>::elements == 8);
static_assert(LayoutB<m16n8k32, std::int8_t>::registers == 2 &&
              LayoutB<m16n8k32, std::int8_t>::elements == 8);
static_assert(LayoutA<m16n8k256, b1>::registers == 4 && LayoutA<m16n8k256, b1>::elements == 128);
static_assert(LayoutC<m16n8k16, __half>::registers == 2 && LayoutC<m16n8k16, float>::registers == 4);
static_assert(LayoutA<m16n8k16, double>::registers == 8);
static_assert(LayoutA<m8n8k4, __half, Major::row>::matrices == 4 && LayoutC<m8n8k4, float>::registers == 8);
static_assert(LayoutA<m16n8k16, __half>::register_of(5) == 2 && LayoutA<m16n8k16, __half>::bit_of(5) == 16);
static_assert(LayoutA<m16n8k64, s4>::register_of(15) == 1 && LayoutA<m16n8k64, s4>::bit_of(15) == 28);

// The shapes of PTX, and none that PTX lacks.
static_assert(mma_has_operand<m16n8k8, tf32>() && !mma_has_operand<m16n8k16, tf32>());
static_assert(!mma_has_operand<m16n8k32, __half>() && !mma_has_operand<m8n8k16, e4m3>());
static_assert(mma_has_operand<m8n8k4, __half>() && mma_has_operand<m8n8k4, double>());  // Volta's, and f64's
static_assert(AccumulatorExists<m8n8k4, float>::value && AccumulatorExists<m8n8k4, __half>::value);
static_assert(!mma_has_operand<m8n8k16, __half>() && !mma_has_operand<m16n8k4, __half>());
static_assert(!mma_has_operand<m16n8k16, short>() && !wgmma_has_operand<WgmmaShape<64, 16>, short>());
static_assert(!Element<short>::exists && Element<__half>::exists && Element<b1>::exists);
static_assert(!mma_has_operand<m8n8k4, __nv_bfloat16>() && !mma_has_operand<m16n8k8, float>());
static_assert(!AccumulatorExists<m16n8k64, float>::value && AccumulatorExists<m16n8k64, std::int32_t>::value);
static_assert(!AccumulatorExists<m16n8k4, __half>::value && !AccumulatorExists<m8n8k16, double>::value);

std::string label(const NamedLayout& layout) {
  return std::string(layout.shape) + " " + layout.type + " " + layout.operand;
}

TEST(FragmentLayout, EqualsThePtxIsaElementByElement) {
  std::set<std::string> covered;
  for (const test::IsaTable& table : test::isa_tables()) {
    for (const char* type : table.types) {
      const NamedLayout* layout = find_layout(table.shape, type, table.operand);
      ASSERT_NE(layout, nullptr) << table.shape << " " << type << " " << table.operand;
      covered.insert(label(*layout));
      for (int lane = 0; lane < 32; ++lane) {
        for (int e = 0; e < layout->elements; ++e) {
          const Coord is = layout->coord(lane, e), expected = table.at(lane, e);
          ASSERT_EQ(is.row, expected.row) << label(*layout) << " lane " << lane << " element " << e;
          ASSERT_EQ(is.col, expected.col) << label(*layout) << " lane " << lane << " element " << e;
        }
      }
    }
  }
  for (const NamedLayout& layout : layouts()) {
    const bool is_wmma = std::string(layout.shape).rfind("wmma", 0) == 0;  // wmma_layout_test.cpp
    if (!is_wmma && layout.lanes == 32) {                                  // wgmma: wgmma_layout_test.cpp
      EXPECT_EQ(covered.count(label(layout)), 1U) << label(layout) << " has no table";
    }
  }
}

TEST(FragmentLayout, CoversEveryElementExactlyOncePerMatrix) {
  for (const NamedLayout& layout : layouts()) {
    std::vector<int> held(static_cast<std::size_t>(layout.rows * layout.cols), 0);
    for (int lane = 0; lane < layout.lanes; ++lane) {
      for (int e = 0; e < layout.elements; ++e) {
        const Coord at = layout.coord(lane, e);
        ASSERT_TRUE(0 <= at.row && at.row < layout.rows && 0 <= at.col && at.col < layout.cols)
            << label(layout);
        ++held[static_cast<std::size_t>(at.row * layout.cols + at.col)];
      }
    }
    for (const int count : held) ASSERT_EQ(count, layout.matrices) << label(layout);
  }
}

TEST(FragmentLayout, OwnerIsTheInverseOfCoord) {
  for (const NamedLayout& layout : layouts()) {
    for (int row = 0; row < layout.rows; ++row) {
      for (int col = 0; col < layout.cols; ++col) {
        const Owner who = layout.owner(row, col);
        ASSERT_TRUE(0 <= who.lane && who.lane < layout.lanes && 0 <= who.element &&
                    who.element < layout.elements);
        ASSERT_TRUE(layout.coord(who.lane, who.element) == (Coord{row, col}))
            << label(layout) << " " << row << " " << col;
      }
    }
    if (layout.matrices > 1) continue;  // below
    for (int lane = 0; lane < layout.lanes; ++lane) {
      for (int e = 0; e < layout.elements; ++e) {
        const Coord at = layout.coord(lane, e);
        ASSERT_TRUE(layout.owner(at.row, at.col) == (Owner{lane, e}))
            << label(layout) << " lane " << lane << " " << e;
      }
    }
  }
}

// The four products of Volta's m8n8k4: each lane belongs to one, and owner finds every element in each.
template <class Layout>
void expect_inverse_per_matrix() {
  for (int lane = 0; lane < 32; ++lane) {
    ASSERT_EQ(Layout::matrix_of(lane), lane % 16 / 4);
    for (int e = 0; e < Layout::elements; ++e) {
      const Coord at = Layout::coord(lane, e);
      ASSERT_TRUE(Layout::owner(at.row, at.col, Layout::matrix_of(lane)) == (Owner{lane, e}))
          << lane << " " << e;
    }
  }
}
TEST(FragmentLayout, VoltaOwnersOfEachMatrix) {
  expect_inverse_per_matrix<LayoutA<m8n8k4, __half, Major::row>>();
  expect_inverse_per_matrix<LayoutA<m8n8k4, __half, Major::column>>();
  expect_inverse_per_matrix<LayoutB<m8n8k4, __half, Major::row>>();
  expect_inverse_per_matrix<LayoutB<m8n8k4, __half, Major::column>>();
  expect_inverse_per_matrix<LayoutC<m8n8k4, __half>>();
  expect_inverse_per_matrix<LayoutC<m8n8k4, float>>();
}

TEST(FragmentLayout, ElementsFillTheirRegistersWithoutOverlap) {
  for (const NamedLayout& layout : layouts()) {
    const int register_bits = layout.bits > 32 ? layout.bits : 32;
    ASSERT_EQ(layout.registers * register_bits, layout.elements * layout.bits) << label(layout);
    std::set<Owner> places;  // (register, bit)
    for (int e = 0; e < layout.elements; ++e) {
      ASSERT_LT(layout.register_of(e), layout.registers);
      ASSERT_LE(layout.bit_of(e) + layout.bits, register_bits);
      ASSERT_EQ(layout.bit_of(e) % layout.bits, 0);
      ASSERT_TRUE(places.insert({layout.register_of(e), layout.bit_of(e)}).second)
          << label(layout) << " " << e;
    }
  }
}

// Neighbours in k share a register, low bits first: what makes a 32-bit load of two k-contiguous halves
// right.
TEST(FragmentLayout, RegistersHoldConsecutiveK) {
  for (const NamedLayout& layout : layouts()) {
    if (layout.operand[0] == 'c' || layout.matrices > 1) continue;
    for (int lane = 0; lane < layout.lanes; ++lane) {
      for (int e = 1; e < layout.elements; ++e) {
        if (layout.register_of(e) != layout.register_of(e - 1)) continue;
        const Coord before = layout.coord(lane, e - 1), at = layout.coord(lane, e);
        const bool is_a = layout.operand[0] == 'a';
        ASSERT_EQ(is_a ? at.row : at.col, is_a ? before.row : before.col) << label(layout);
        ASSERT_EQ(is_a ? at.col : at.row, (is_a ? before.col : before.row) + 1) << label(layout);
      }
    }
  }
}

}  // namespace
}  // namespace tenon
