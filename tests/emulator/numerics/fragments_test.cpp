// Fragments: every table holds every element of its tile exactly once (or as often as documented), and agrees
// with the formulas of the PTX ISA, transcribed here shape by shape.
#include "emulator/numerics/fragments.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::emulator::numerics {
namespace {

using ptx::Type;

// How often each coordinate of rows x columns occurs.
std::map<std::pair<int, int>, int> cover(const Fragment& fragment) {
  std::map<std::pair<int, int>, int> times;
  for (int lane = 0; lane < 32; ++lane) {
    for (int reg = 0; reg < fragment.registers(); ++reg) {
      for (int element = 0; element < fragment.elements(); ++element) {
        const Coord coord = fragment.at(lane, reg, element);
        ++times[{coord.row, coord.column}];
      }
    }
  }
  return times;
}

void expect_bijective(const Fragment& fragment, int rows, int columns, const std::string& what) {
  const auto times = cover(fragment);
  ASSERT_EQ(times.size(), static_cast<std::size_t>(rows * columns)) << what;
  for (const auto& [place, count] : times) {
    ASSERT_EQ(count, 1) << what;
    ASSERT_TRUE(place.first >= 0 && place.first < rows && place.second >= 0 && place.second < columns)
        << what;
  }
}

struct Dense {
  Shape shape;
  Type type, accumulator;
};
const std::vector<Dense> dense = {
    {{16, 8, 8}, Type::f16, Type::f32},   {{16, 8, 16}, Type::f16, Type::f16},
    {{16, 8, 16}, Type::bf16, Type::f32}, {{16, 8, 4}, Type::tf32, Type::f32},
    {{16, 8, 8}, Type::tf32, Type::f32},  {{8, 8, 4}, Type::f64, Type::f64},
    {{16, 8, 4}, Type::f64, Type::f64},   {{16, 8, 8}, Type::f64, Type::f64},
    {{16, 8, 16}, Type::f64, Type::f64},  {{8, 8, 16}, Type::s8, Type::s32},
    {{16, 8, 16}, Type::u8, Type::s32},   {{16, 8, 32}, Type::s8, Type::s32},
    {{8, 8, 32}, Type::s4, Type::s32},    {{16, 8, 32}, Type::u4, Type::s32},
    {{16, 8, 64}, Type::s4, Type::s32},   {{8, 8, 128}, Type::b1, Type::s32},
    {{16, 8, 128}, Type::b1, Type::s32},  {{16, 8, 256}, Type::b1, Type::s32},
    {{16, 8, 16}, Type::e4m3, Type::f32}, {{16, 8, 32}, Type::e5m2, Type::f16},
};

TEST(MmaFragments, CoverTheirTilesOnce) {
  for (const Dense& form : dense) {
    const Shape& s = form.shape;
    const std::string what =
        "k" + std::to_string(s.k) + " of type " + std::to_string(static_cast<int>(form.type));
    expect_bijective(mma_fragment(Matrix::a, s, form.type), s.m, s.k, "A " + what);
    expect_bijective(mma_fragment(Matrix::b, s, form.type), s.k, s.n, "B " + what);
    expect_bijective(mma_fragment(Matrix::c, s, form.accumulator), s.m, s.n, "C " + what);
  }
}

// The ISA's formulas give a row and a column for element i of a lane, in the order of its registers.
using Formula = Coord (*)(int group, int thread, int i);
Coord at(int row, int column) {
  return {static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)};
}

void expect_formula(const Fragment& fragment, Formula formula, const std::string& what) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < fragment.registers() * fragment.elements(); ++i) {
      const Coord expected = formula(lane >> 2, lane % 4, i);
      const Coord found = fragment.at(lane, i / fragment.elements(), i % fragment.elements());
      ASSERT_EQ(std::make_pair(found.row, found.column), std::make_pair(expected.row, expected.column))
          << what << " lane " << lane << " element " << i;
    }
  }
}

TEST(MmaFragments, AgreeWithTheFormulasOfThePtxIsa) {
  const auto check = [](Matrix matrix, Shape shape, Type type, Formula formula, const char* what) {
    expect_formula(mma_fragment(matrix, shape, type), formula, what);
  };
  // 9.7.14.5.2, 9.7.14.5.3: m8n8k4 .f64, m16n8k4
  check(
      Matrix::a, {8, 8, 4}, Type::f64, [](int g, int t, int) { return at(g, t); }, "m8n8k4 f64 A");
  check(
      Matrix::b, {8, 8, 4}, Type::f64, [](int g, int t, int) { return at(t, g); }, "m8n8k4 f64 B");
  check(
      Matrix::c, {8, 8, 4}, Type::f64, [](int g, int t, int i) { return at(g, t * 2 + (i & 1)); },
      "m8n8k4 f64 C");
  check(
      Matrix::a, {16, 8, 4}, Type::tf32, [](int g, int t, int i) { return at(i == 0 ? g : g + 8, t); },
      "m16n8k4 tf32 A");
  check(
      Matrix::b, {16, 8, 4}, Type::tf32, [](int g, int t, int) { return at(t, g); }, "m16n8k4 tf32 B");
  check(
      Matrix::a, {16, 8, 4}, Type::f64, [](int g, int t, int i) { return at(i == 0 ? g : g + 8, t); },
      "m16n8k4 f64 A");
  // m16n8k8
  check(
      Matrix::a, {16, 8, 8}, Type::f16,
      [](int g, int t, int i) { return at(i < 2 ? g : g + 8, t * 2 + (i & 1)); }, "m16n8k8 f16 A");
  check(
      Matrix::b, {16, 8, 8}, Type::f16, [](int g, int t, int i) { return at(t * 2 + i, g); },
      "m16n8k8 f16 B");
  for (Type type : {Type::tf32, Type::f64}) {
    check(
        Matrix::a, {16, 8, 8}, type,
        [](int g, int t, int i) { return at(i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4); }, "m16n8k8 A");
    check(
        Matrix::b, {16, 8, 8}, type, [](int g, int t, int i) { return at(i == 0 ? t : t + 4, g); },
        "m16n8k8 B");
  }
  // m16n8k16 of 16 bits and of f64
  check(
      Matrix::a, {16, 8, 16}, Type::bf16,
      [](int g, int t, int i) {
        const bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
        return at(upper ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8);
      },
      "m16n8k16 bf16 A");
  check(
      Matrix::b, {16, 8, 16}, Type::bf16,
      [](int g, int t, int i) { return at(i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g); },
      "m16n8k16 bf16 B");
  check(
      Matrix::c, {16, 8, 16}, Type::f32,
      [](int g, int t, int i) { return at(i < 2 ? g : g + 8, t * 2 + (i & 1)); }, "m16n8 f32 C");
  check(
      Matrix::c, {16, 8, 16}, Type::f16,
      [](int g, int t, int i) { return at(i < 2 ? g : g + 8, t * 2 + (i & 1)); }, "m16n8 f16 C");
  check(
      Matrix::a, {16, 8, 16}, Type::f64,
      [](int g, int t, int i) { return at(i % 2 == 0 ? g : g + 8, (i / 2) * 4 + t); }, "m16n8k16 f64 A");
  check(
      Matrix::b, {16, 8, 16}, Type::f64, [](int g, int t, int i) { return at(i * 4 + t, g); },
      "m16n8k16 f64 B");
  // 8 bits
  check(
      Matrix::a, {8, 8, 16}, Type::s8, [](int g, int t, int i) { return at(g, t * 4 + i); }, "m8n8k16 A");
  check(
      Matrix::b, {8, 8, 16}, Type::s8, [](int g, int t, int i) { return at(t * 4 + i, g); }, "m8n8k16 B");
  for (Type type : {Type::u8, Type::e4m3}) {
    check(
        Matrix::a, {16, 8, 16}, type,
        [](int g, int t, int i) { return at(i < 4 ? g : g + 8, t * 4 + (i & 3)); }, "m16n8k16 8-bit A");
    check(
        Matrix::b, {16, 8, 16}, type, [](int g, int t, int i) { return at(t * 4 + i, g); },
        "m16n8k16 8-bit B");
    check(
        Matrix::a, {16, 8, 32}, type,
        [](int g, int t, int i) {
          const bool upper = (0 <= i && i < 4) || (8 <= i && i < 12);
          return at(upper ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16);
        },
        "m16n8k32 8-bit A");
    check(
        Matrix::b, {16, 8, 32}, type,
        [](int g, int t, int i) { return at(i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g); },
        "m16n8k32 8-bit B");
  }
  // 4 bits
  check(
      Matrix::a, {8, 8, 32}, Type::s4, [](int g, int t, int i) { return at(g, t * 8 + i); }, "m8n8k32 A");
  check(
      Matrix::a, {16, 8, 32}, Type::u4,
      [](int g, int t, int i) { return at(i < 8 ? g : g + 8, t * 8 + (i & 7)); }, "m16n8k32 4-bit A");
  check(
      Matrix::b, {16, 8, 32}, Type::u4, [](int g, int t, int i) { return at(t * 8 + (i & 7), g); },
      "m16n8k32 4-bit B");
  check(
      Matrix::a, {16, 8, 64}, Type::s4,
      [](int g, int t, int i) {
        const bool upper = (0 <= i && i < 8) || (16 <= i && i < 24);
        return at(upper ? g : g + 8, i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32);
      },
      "m16n8k64 4-bit A");
  check(
      Matrix::b, {16, 8, 64}, Type::s4,
      [](int g, int t, int i) { return at(i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g); },
      "m16n8k64 4-bit B");
  // 1 bit
  check(
      Matrix::a, {8, 8, 128}, Type::b1, [](int g, int t, int i) { return at(g, t * 32 + i); }, "m8n8k128 A");
  check(
      Matrix::a, {16, 8, 128}, Type::b1,
      [](int g, int t, int i) { return at(i < 32 ? g : g + 8, t * 32 + (i & 31)); }, "m16n8k128 A");
  check(
      Matrix::a, {16, 8, 256}, Type::b1,
      [](int g, int t, int i) {
        const bool upper = (0 <= i && i < 32) || (64 <= i && i < 96);
        return at(upper ? g : g + 8, i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128);
      },
      "m16n8k256 A");
  check(
      Matrix::b, {16, 8, 256}, Type::b1,
      [](int g, int t, int i) { return at(i < 32 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128, g); },
      "m16n8k256 B");
}

TEST(M8n8k4Fragments, AgreeWithTheFormulasOfThePtxIsa) {
  // 9.7.14.5.1: product q belongs to lanes 4q..4q+3 and 4q+16..4q+19.
  for (int lane = 0; lane < 32; ++lane) {
    const int q = lane % 16 / 4;
    const bool low = lane < 16;
    for (int i = 0; i < 4; ++i) {
      const auto expect = [&](Matrix matrix, bool row_major, int row, int column) {
        const Fragment fragment = m8n8k4_fragment(matrix, Type::f16, row_major);
        const Coord coord = fragment.at(lane, i / 2, i % 2);
        EXPECT_EQ(coord.row, row + (matrix == Matrix::a ? 8 * q : 0));
        EXPECT_EQ(coord.column, column + (matrix == Matrix::b ? 8 * q : 0));
      };
      expect(Matrix::a, true, low ? lane % 4 : lane % 4 + 4, i);
      expect(Matrix::a, false, low ? i % 4 : i % 4 + 4, lane % 4);
      expect(Matrix::b, true, lane % 4, low ? i : i + 4);
      expect(Matrix::b, false, i, low ? lane % 4 : lane % 4 + 4);
    }
    for (int i = 0; i < 8; ++i) {
      const Coord half = m8n8k4_fragment(Matrix::c, Type::f16, true).at(lane, i / 2, i % 2);
      EXPECT_EQ(half.row - 8 * q, low ? lane % 4 : lane % 4 + 4);
      EXPECT_EQ(half.column, i);
      const Coord single = m8n8k4_fragment(Matrix::c, Type::f32, true).at(lane, i, 0);
      const int x = (lane & 1) + (i & 2);
      EXPECT_EQ(single.row - 8 * q, low ? x : x + 4);
      EXPECT_EQ(single.column, (i & 4) + (lane & 2) + (i & 1));
    }
  }
}

TEST(M8n8k4Fragments, CoverTheirTilesOnce) {
  for (bool row_major : {false, true}) {
    expect_bijective(m8n8k4_fragment(Matrix::a, Type::f16, row_major), 32, 4, "A");
    expect_bijective(m8n8k4_fragment(Matrix::b, Type::f16, row_major), 4, 32, "B");
  }
  expect_bijective(m8n8k4_fragment(Matrix::c, Type::f16, true), 32, 8, "C f16");
  expect_bijective(m8n8k4_fragment(Matrix::c, Type::f32, true), 32, 8, "C f32");
}

struct Wmma {
  Shape shape;
  Type type, accumulator;
  int a_registers, b_registers, c_registers;  // of the PTX operands
};
const std::vector<Wmma> wmma = {
    {{16, 16, 16}, Type::f16, Type::f32, 8, 8, 8},  {{16, 16, 16}, Type::f16, Type::f16, 8, 8, 4},
    {{32, 8, 16}, Type::f16, Type::f32, 8, 8, 8},   {{8, 32, 16}, Type::f16, Type::f16, 8, 8, 4},
    {{16, 16, 16}, Type::bf16, Type::f32, 4, 4, 8}, {{32, 8, 16}, Type::bf16, Type::f32, 8, 2, 8},
    {{8, 32, 16}, Type::bf16, Type::f32, 2, 8, 8},  {{16, 16, 16}, Type::s8, Type::s32, 2, 2, 8},
    {{32, 8, 16}, Type::u8, Type::s32, 4, 1, 8},    {{8, 32, 16}, Type::s8, Type::s32, 1, 4, 8},
    {{16, 16, 8}, Type::tf32, Type::f32, 4, 4, 8},  {{8, 8, 4}, Type::f64, Type::f64, 1, 1, 2},
    {{8, 8, 32}, Type::s4, Type::s32, 1, 1, 2},     {{8, 8, 128}, Type::b1, Type::s32, 1, 1, 2},
};

TEST(WmmaFragments, CoverTheirTilesOnceInTheRegistersOfTheInstruction) {
  for (const Wmma& form : wmma) {
    const Shape& s = form.shape;
    const Fragment a = wmma_fragment(Matrix::a, s, form.type), b = wmma_fragment(Matrix::b, s, form.type);
    const Fragment c = wmma_fragment(Matrix::c, s, form.accumulator);
    EXPECT_EQ(a.registers() * a.copies(), form.a_registers);
    EXPECT_EQ(b.registers() * b.copies(), form.b_registers);
    EXPECT_EQ(c.registers() * c.copies(), form.c_registers);
    expect_bijective(a, s.m, s.k, "A");
    expect_bijective(b, s.k, s.n, "B");
    expect_bijective(c, s.m, s.n, "C");
  }
}

TEST(WmmaFragments, HoldIn16x16x16WhatAGpuPrints) {
  // Elements numbered 0..255 in row-major order, as printed on a GPU of the sm_80 family.
  const auto held = [](Matrix matrix, int lane) {
    const Fragment fragment = wmma_fragment(matrix, {16, 16, 16}, Type::f16);
    std::vector<int> numbers;
    for (int i = 0; i < 8; ++i) {
      const Coord coord = fragment.at(lane, i / 2, i % 2);
      numbers.push_back(16 * coord.row + coord.column);
    }
    return numbers;
  };
  EXPECT_EQ(held(Matrix::a, 0), (std::vector<int>{0, 1, 128, 129, 8, 9, 136, 137}));
  EXPECT_EQ(held(Matrix::a, 1), (std::vector<int>{2, 3, 130, 131, 10, 11, 138, 139}));
  EXPECT_EQ(held(Matrix::a, 31), (std::vector<int>{118, 119, 246, 247, 126, 127, 254, 255}));
  EXPECT_EQ(held(Matrix::b, 0), (std::vector<int>{0, 16, 128, 144, 8, 24, 136, 152}));
  EXPECT_EQ(held(Matrix::b, 1), (std::vector<int>{32, 48, 160, 176, 40, 56, 168, 184}));
  EXPECT_EQ(held(Matrix::b, 31), (std::vector<int>{103, 119, 231, 247, 111, 127, 239, 255}));
  EXPECT_EQ(wmma_fragment(Matrix::c, {16, 16, 16}, Type::f32).registers(), 8);
}

struct Sparse {
  Shape shape;
  Type type;
  int selectors;
};
const std::vector<Sparse> sparse = {
    {{16, 8, 16}, Type::f16, 4},  {{16, 8, 32}, Type::bf16, 2}, {{16, 8, 8}, Type::tf32, 4},
    {{16, 8, 16}, Type::tf32, 2}, {{16, 8, 32}, Type::s8, 2},   {{16, 8, 64}, Type::u8, 1},
    {{16, 8, 64}, Type::e4m3, 1}, {{16, 8, 64}, Type::s4, 2},   {{16, 8, 128}, Type::u4, 1},
};

TEST(SparseFragments, CoverTheStoredElementsOnce) {
  for (const Sparse& form : sparse) {
    const Shape& s = form.shape;
    expect_bijective(mma_fragment(Matrix::a, s, form.type, true), s.m, s.k / 2, "sparse A");
    expect_bijective(mma_fragment(Matrix::b, s, form.type, true), s.k, s.n, "B of a sparse A");
    EXPECT_EQ(sparse_selectors(s, form.type), form.selectors);
  }
}

// The columns that a stored element of a row can have: those of its group, selected by the metadata.
TEST(SparseFragments, EveryBitOfTheMetadataThatASelectorNamesDecidesOneElement) {
  for (const Sparse& form : sparse) {
    const int stored = form.shape.k / 2;
    const int per_pair = form.type == Type::s4 || form.type == Type::u4 ? 8 : form.type == Type::tf32 ? 2 : 4;
    std::map<std::pair<int, int>, int> deciding;  // (lane, bit) -> how many selectors use it
    for (int selector = 0; selector < form.selectors; ++selector) {
      for (int row = 0; row < 16; ++row) {
        for (int index = 0; index < stored; ++index) {
          std::uint64_t metadata[32];
          for (auto& lane : metadata) lane = 0xeeeeeeee;  // the last two of each group
          const int high = sparse_column(form.shape, form.type, selector, metadata, row, index);
          for (auto& lane : metadata) lane = 0x44444444;  // the first two
          const int low = sparse_column(form.shape, form.type, selector, metadata, row, index);
          const int group = index / (per_pair / 2);
          ASSERT_EQ(low, group * per_pair + index % (per_pair / 2));
          ASSERT_EQ(high, low + per_pair / 2);
          for (int lane = 0; lane < 32; ++lane) {
            for (int bit = 0; bit < 32; ++bit) {
              metadata[lane] ^= std::uint64_t{1} << bit;
              if (sparse_column(form.shape, form.type, selector, metadata, row, index) != low) {
                ASSERT_EQ(lane / 4, row % 8);
                ++deciding[{lane, bit}];
              }
              metadata[lane] ^= std::uint64_t{1} << bit;
            }
          }
        }
      }
    }
    // With all selectors every bit matters. For 4-bit types an index selects two adjacent elements; for tf32
    // only the upper bit of the first index matters.
    const int expected = form.type == Type::s4 || form.type == Type::u4 ? 2 : 1;
    if (form.type == Type::tf32) {
      EXPECT_EQ(deciding.size(), 32U * 8);
    } else {
      EXPECT_EQ(deciding.size(), 32U * 32);
    }
    for (const auto& [bit, count] : deciding) ASSERT_EQ(count, expected);
  }
}

TEST(SparseFragments, MetadataComesFromTheLanesOfThePtxIsaFigures) {
  std::uint64_t metadata[32];
  const auto clear = [&] {
    for (auto& lane : metadata) lane = 0x44444444;
  };
  // 9.7.14.6.1: m16n8k16 of f16, selector 2: lane 2 of each group; rows g and g + 8 in its halves.
  clear();
  metadata[4 * 3 + 2] = 0x0000e000;  // row 3, columns 12..15
  EXPECT_EQ(sparse_column({16, 8, 16}, Type::f16, 2, metadata, 3, 6), 14);
  EXPECT_EQ(sparse_column({16, 8, 16}, Type::f16, 2, metadata, 3, 7), 15);
  EXPECT_EQ(sparse_column({16, 8, 16}, Type::f16, 1, metadata, 3, 7), 13);
  metadata[4 * 3 + 2] = 0x000d0000;  // row 11, columns 0..3: the second and the fourth
  EXPECT_EQ(sparse_column({16, 8, 16}, Type::f16, 2, metadata, 11, 0), 1);
  EXPECT_EQ(sparse_column({16, 8, 16}, Type::f16, 2, metadata, 11, 1), 3);
  // m16n8k32 of f16, selector 1: lanes 2 (columns 0..15) and 3 (16..31).
  clear();
  metadata[4 * 5 + 3] = 0x0000000e;
  EXPECT_EQ(sparse_column({16, 8, 32}, Type::f16, 1, metadata, 5, 8), 18);
  EXPECT_EQ(sparse_column({16, 8, 32}, Type::f16, 1, metadata, 5, 0), 0);
  // m16n8k32 of s8, selector 0: lane 0 has row g, lane 1 row g + 8.
  clear();
  metadata[4 * 7 + 1] = 0xe0000000;
  EXPECT_EQ(sparse_column({16, 8, 32}, Type::s8, 0, metadata, 15, 15), 31);
  // m16n8k64 of s8: all four lanes; columns 32.. in lanes 2 and 3.
  clear();
  metadata[4 * 1 + 2] = 0x0000000e;
  EXPECT_EQ(sparse_column({16, 8, 64}, Type::s8, 0, metadata, 1, 16), 34);
  // tf32: 0xe is the second of a pair.
  clear();
  metadata[0] = 0x0000000e;
  EXPECT_EQ(sparse_column({16, 8, 8}, Type::tf32, 0, metadata, 0, 0), 1);
  EXPECT_EQ(sparse_column({16, 8, 8}, Type::tf32, 0, metadata, 0, 1), 2);
}

}  // namespace
}  // namespace tenon::emulator::numerics
