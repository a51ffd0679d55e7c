// The rows that load() points ldmatrix at, run through a model of ldmatrix written from the PTX ISA
// (9.7.14.5.15): what arrives in each lane's registers has to be the fragment, element by element.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tenon/fragment/ldmatrix_rows.hpp"

namespace tenon {
namespace {

// Eight times sixteen bytes: the elements, as coordinates of the operand, that each of the 8 rows holds in
// order.
using Matrix = std::array<std::vector<Coord>, 8>;

// What register `r` of a lane receives: matrix r's row lane / 4, its 32 bits number lane % 4; with .trans the
// two 16-bit elements of column lane / 4 in rows 2 * (lane % 4) and one below.
std::vector<Coord> received(const Matrix& matrix, int lane, int per_register, bool trans) {
  const auto g = static_cast<std::size_t>(lane / 4), t = static_cast<std::size_t>(lane % 4);
  if (trans) return {matrix[2 * t][g], matrix[2 * t + 1][g]};
  const auto first = matrix[g].begin() + lane % 4 * per_register;
  return {first, first + per_register};
}

// `along_col`: the 16 bytes run along the operand's columns, else along its rows.
std::vector<Coord> sixteen_bytes(Coord first, int elements, bool along_col) {
  std::vector<Coord> row;
  for (int i = 0; i < elements; ++i)
    row.push_back(along_col ? Coord{first.row, first.col + i} : Coord{first.row + i, first.col});
  return row;
}

template <class Layout, bool k_major>
void expect_a() {
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < Layout::registers; ++r) {
      Matrix matrix;
      for (int i = 0; i < 8; ++i) {
        matrix[static_cast<std::size_t>(i)] =
            sixteen_bytes(ldmatrix_row_a<Layout, k_major>(8 * r + i), 128 / Layout::bits, k_major);
      }
      const std::vector<Coord> elements = received(matrix, lane, Layout::per_register, !k_major);
      for (int j = 0; j < Layout::per_register; ++j) {
        ASSERT_EQ(elements[static_cast<std::size_t>(j)], Layout::coord(lane, r * Layout::per_register + j))
            << "lane " << lane << " register " << r;
      }
    }
  }
}

template <class Layout, bool k_major, int count>
void expect_b() {
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < count * Layout::registers; ++r) {
      Matrix matrix;
      for (int i = 0; i < 8; ++i) {
        matrix[static_cast<std::size_t>(i)] =
            sixteen_bytes(ldmatrix_row_b<Layout, k_major, count>(8 * r + i), 128 / Layout::bits, !k_major);
      }
      const std::vector<Coord> elements = received(matrix, lane, Layout::per_register, !k_major);
      for (int j = 0; j < Layout::per_register; ++j) {
        Coord expected = Layout::coord(lane, r % Layout::registers * Layout::per_register + j);
        expected.col += 8 * (r / Layout::registers);
        ASSERT_EQ(elements[static_cast<std::size_t>(j)], expected) << "lane " << lane << " register " << r;
      }
    }
  }
}

template <class Shape, class T>
void expect_k_major() {
  expect_a<LayoutA<Shape, T>, true>();
  expect_b<LayoutB<Shape, T>, true, 1>();
  if constexpr (2 * LayoutB<Shape, T>::registers <= 4) expect_b<LayoutB<Shape, T>, true, 2>();
}
template <class Shape, class T>
void expect_both_orders() {
  expect_k_major<Shape, T>();
  expect_a<LayoutA<Shape, T>, false>();
  expect_b<LayoutB<Shape, T>, false, 1>();
  expect_b<LayoutB<Shape, T>, false, 2>();
}

TEST(Ldmatrix, DeliversSixteenBitFragmentsFromEitherOrder) {
  expect_both_orders<m16n8k16, __half>();
  expect_both_orders<m16n8k16, __nv_bfloat16>();
  expect_both_orders<m16n8k8, __half>();
  expect_both_orders<m16n8k8, __nv_bfloat16>();
}

TEST(Ldmatrix, DeliversOtherWidthsFromKMajorTiles) {
  expect_k_major<m16n8k4, tf32>();
  expect_k_major<m16n8k8, tf32>();
  expect_k_major<m16n8k16, e4m3>();
  expect_k_major<m16n8k32, e5m2>();
  expect_k_major<m8n8k16, std::int8_t>();
  expect_k_major<m16n8k16, std::uint8_t>();
  expect_k_major<m16n8k32, std::int8_t>();
  expect_k_major<m8n8k32, s4>();
  expect_k_major<m16n8k32, u4>();
  expect_k_major<m16n8k64, s4>();
  expect_k_major<m8n8k128, b1>();
  expect_k_major<m16n8k128, b1>();
  expect_k_major<m16n8k256, b1>();
}

}  // namespace
}  // namespace tenon
