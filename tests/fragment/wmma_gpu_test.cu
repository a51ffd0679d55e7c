// The wmma layouts against the machine: load_matrix_sync of matrices of row and of column numbers, then every
// x[i] of every lane.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>
#include <mma.h>

#include "fragment/managed.hpp"
#include "support/gpu.hpp"
#include "tenon/fragment/layout.hpp"

namespace tenon {
namespace {

namespace wmma = nvcuda::wmma;

// Writes x[i] of each lane; `held` says how many there are. Numbers below 32 are exact in every type.
template <class Fragment, class Stored, class... Order>
__global__ void load(const Stored* matrix, unsigned ld, float* out, int* held, Order... order) {
  Fragment fragment;
  wmma::load_matrix_sync(fragment, matrix, ld, order...);
  for (int i = 0; i < fragment.num_elements; ++i) {
    out[threadIdx.x * fragment.num_elements + i] = static_cast<float>(fragment.x[i]);
  }
  if (threadIdx.x == 0) *held = fragment.num_elements;
}

// by_row: the matrix is stored by rows, else by columns.
template <class Fragment, class Stored, class Layout, class... Order>
void expect_layout(bool by_row, Order... order) {
  constexpr int rows = Layout::rows, cols = Layout::cols;
  const int ld = by_row ? cols : rows;
  for (const bool of_rows : {true, false}) {
    test::Managed<Stored> matrix(static_cast<std::size_t>(rows * cols), Stored(0.0F));
    test::Managed<float> out(32 * 32, -1.0F);
    test::Managed<int> held(1, 0);
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        matrix[static_cast<std::size_t>(by_row ? ld * row + col : ld * col + row)] =
            Stored(static_cast<float>(of_rows ? row : col));
      }
    }
    load<Fragment, Stored>
        <<<1, 32>>>(matrix.data(), static_cast<unsigned>(ld), out.data(), held.data(), order...);
    ASSERT_TRUE(test::finished());
    const int elements = held[0];
    ASSERT_TRUE(elements >= Layout::elements && elements % Layout::elements == 0) << elements;
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < elements; ++i) {
        const Coord at = Layout::coord(lane, i % Layout::elements);  // f16 operands repeat their elements
        ASSERT_EQ(out[static_cast<std::size_t>(lane * elements + i)], of_rows ? at.row : at.col)
            << "lane " << lane << " x[" << i << "]";
      }
    }
  }
}

// Held: what wmma calls the type; Stored: of the matrix in memory; T: what tenon calls it.
template <class Shape, class T, class Held, class Stored = Held>
void expect_operands() {
  using wmma::col_major;
  using wmma::matrix_a;
  using wmma::matrix_b;
  using wmma::row_major;
  constexpr int m = Shape::m, n = Shape::n, k = Shape::k;
  using A = LayoutA<Shape, T>;
  using B = LayoutB<Shape, T>;
  expect_layout<wmma::fragment<matrix_a, m, n, k, Held, row_major>, Stored, A>(true);
  expect_layout<wmma::fragment<matrix_a, m, n, k, Held, col_major>, Stored, A>(false);
  expect_layout<wmma::fragment<matrix_b, m, n, k, Held, row_major>, Stored, B>(true);
  expect_layout<wmma::fragment<matrix_b, m, n, k, Held, col_major>, Stored, B>(false);
}
template <class Shape, class T>
void expect_accumulator() {
  using Fragment = wmma::fragment<wmma::accumulator, Shape::m, Shape::n, Shape::k, T>;
  expect_layout<Fragment, T, LayoutC<Shape, T>>(true, wmma::mem_row_major);
  expect_layout<Fragment, T, LayoutC<Shape, T>>(false, wmma::mem_col_major);
}
template <class Shape>
void expect_shape_of_16() {
  expect_operands<Shape, __half, __half>();
  expect_operands<Shape, __nv_bfloat16, __nv_bfloat16>();
  expect_operands<Shape, std::int8_t, signed char>();
  expect_operands<Shape, std::uint8_t, unsigned char>();
  expect_accumulator<Shape, __half>();
  expect_accumulator<Shape, float>();
  expect_accumulator<Shape, std::int32_t>();
}

class WmmaLayoutOnGpu : public test::GpuTest {};

TEST_F(WmmaLayoutOnGpu, Of16x16x16) {
  expect_shape_of_16<wmma16x16x16>();
}
TEST_F(WmmaLayoutOnGpu, Of32x8x16) {
  expect_shape_of_16<wmma32x8x16>();
}
TEST_F(WmmaLayoutOnGpu, Of8x32x16) {
  expect_shape_of_16<wmma8x32x16>();
}
TEST_F(WmmaLayoutOnGpu, OfTf32) {
  expect_operands<wmma16x16x8, tf32, wmma::precision::tf32, float>();
  expect_accumulator<wmma16x16x8, float>();
}
TEST_F(WmmaLayoutOnGpu, OfF64) {
  expect_operands<wmma8x8x4, double, double>();
  expect_accumulator<wmma8x8x4, double>();
}

}  // namespace
}  // namespace tenon
