// The wmma layouts against the machine: load_matrix_sync of a numbered matrix, then every x[i] of every lane.
#include <cuda_fp16.h>
#include <gtest/gtest.h>
#include <mma.h>

#include "fragment/managed.hpp"
#include "support/gpu.hpp"
#include "tenon/fragment/layout.hpp"

namespace tenon {
namespace {

namespace wmma = nvcuda::wmma;

// Writes x[i] of each lane; `held` says how many there are. The numbers 0 to 255 are exact in f16.
template <class Fragment, class... Order>
__global__ void load(const typename Fragment::element_type* matrix, float* out, int* held, Order... order) {
  Fragment fragment;
  wmma::load_matrix_sync(fragment, matrix, 16, order...);
  for (int i = 0; i < fragment.num_elements; ++i) {
    out[threadIdx.x * fragment.num_elements + i] = static_cast<float>(fragment.x[i]);
  }
  if (threadIdx.x == 0) *held = fragment.num_elements;
}

// `by_row`: element (row, col) lies at 16 * row + col of memory, else at 16 * col + row. Its number is 16 *
// row + col.
template <class Fragment, class Layout, class... Order>
void expect_layout(bool by_row, Order... order) {
  using T = typename Fragment::element_type;
  test::Managed<T> matrix(256, T(0.0F));
  test::Managed<float> out(32 * 16, -1.0F);
  test::Managed<int> held(1, 0);
  for (int row = 0; row < 16; ++row) {
    for (int col = 0; col < 16; ++col) {
      matrix[static_cast<std::size_t>(by_row ? 16 * row + col : 16 * col + row)] =
          T(static_cast<float>(16 * row + col));
    }
  }
  load<Fragment><<<1, 32>>>(matrix.data(), out.data(), held.data(), order...);
  ASSERT_TRUE(test::finished());
  const int elements = held[0];
  ASSERT_TRUE(elements == Layout::elements || elements == 2 * Layout::elements) << elements;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < elements; ++i) {
      const Coord at = Layout::coord(lane, i % Layout::elements);  // x[i + 8] repeats x[i]
      ASSERT_EQ(out[static_cast<std::size_t>(lane * elements + i)], 16 * at.row + at.col)
          << "lane " << lane << " x[" << i << "]";
    }
  }
}

template <class Use, class Order>
using Operand = wmma::fragment<Use, 16, 16, 16, __half, Order>;

class WmmaLayoutOnGpu : public test::GpuTest {};

TEST_F(WmmaLayoutOnGpu, MatrixARow) {
  expect_layout<Operand<wmma::matrix_a, wmma::row_major>, LayoutA<wmma16x16x16, __half, Major::row>>(true);
}
TEST_F(WmmaLayoutOnGpu, MatrixACol) {
  expect_layout<Operand<wmma::matrix_a, wmma::col_major>, LayoutA<wmma16x16x16, __half, Major::column>>(
      false);
}
TEST_F(WmmaLayoutOnGpu, MatrixBRow) {
  expect_layout<Operand<wmma::matrix_b, wmma::row_major>, LayoutB<wmma16x16x16, __half, Major::row>>(true);
}
TEST_F(WmmaLayoutOnGpu, MatrixBCol) {
  expect_layout<Operand<wmma::matrix_b, wmma::col_major>, LayoutB<wmma16x16x16, __half, Major::column>>(
      false);
}
TEST_F(WmmaLayoutOnGpu, AccumulatorF32) {
  using C = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
  expect_layout<C, LayoutC<wmma16x16x16, float>>(true, wmma::mem_row_major);
  expect_layout<C, LayoutC<wmma16x16x16, float>>(false, wmma::mem_col_major);
}
TEST_F(WmmaLayoutOnGpu, AccumulatorF16) {
  using C = wmma::fragment<wmma::accumulator, 16, 16, 16, __half>;
  expect_layout<C, LayoutC<wmma16x16x16, __half>>(true, wmma::mem_row_major);
  expect_layout<C, LayoutC<wmma16x16x16, __half>>(false, wmma::mem_col_major);
}

}  // namespace
}  // namespace tenon
