// Layouts of the fragments of nvcuda::wmma, which CUDA leaves unspecified. These are the layouts of sm_75 and
// newer, found by loading numbered matrices and checked on a GPU by tests/fragment. Included by layout.hpp.
//
// They consist of mma fragments of m16n8: 16x16 has two side by side, 32x8 two on top of each other. 8x32 is
// the transpose of 32x8, A and B change places. f64 8x8x4 is one m8n8k4. matrix_a and matrix_b have the same
// layout whether the matrix was loaded as row_major or col_major. In nvcuda::wmma f16 operands have 16
// elements x[] per lane in every shape, which repeat the distinct ones; only those are counted here.
#pragma once

#include "tenon/fragment/layout.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// Mma fragments one after the other: those of higher elements are `step_row` rows below, `step_col` columns
// to the right of the one before. transposed: rows and columns change places at the end.
template <class T, class Block, int Rows, int Cols, int step_row, int step_col, bool transposed>
struct LayoutOfBlocks : LayoutOf<T, transposed ? Cols : Rows, transposed ? Rows : Cols> {
  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    const Coord in_block = Block::coord(lane, element % Block::elements);
    const int block = element / Block::elements;
    const Coord at{in_block.row + step_row * block, in_block.col + step_col * block};
    return transposed ? Coord{at.col, at.row} : at;
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col) {
    const Coord at = transposed ? Coord{col, row} : Coord{row, col};
    const int block = at.row / Block::rows + at.col / Block::cols;  // one of the two is 0
    const Owner in_block = Block::owner(at.row % Block::rows, at.col % Block::cols);
    return {in_block.lane, in_block.element + Block::elements * block};
  }
};

// The mma shape of the blocks of a wmma shape.
template <int M, int N, int K>
using WmmaBlock = std::conditional_t<M == 8 && N == 8, MmaShape<8, 8, K>, MmaShape<16, 8, K>>;

// A of M x K: blocks of 16 rows. Of 8 x 32 it is the B of the transposed product: K x 8, transposed.
template <int M, int N, int K, class T>
struct WmmaLayoutA
    : std::conditional_t<
          N == 32, LayoutOfBlocks<T, LayoutB<WmmaBlock<M, N, K>, T>, K, 8, 0, 8, true>,
          LayoutOfBlocks<T, LayoutA<WmmaBlock<M, N, K>, T>, M, K, WmmaBlock<M, N, K>::m, 0, false>> {};
// B of K x N: blocks of 8 columns. Of 8 x 32 it is the A of the transposed product: 32 x K, transposed.
template <int M, int N, int K, class T>
struct WmmaLayoutB
    : std::conditional_t<N == 32, LayoutOfBlocks<T, LayoutA<WmmaBlock<M, N, K>, T>, 32, K, 16, 0, true>,
                         LayoutOfBlocks<T, LayoutB<WmmaBlock<M, N, K>, T>, K, N, 0, 8, false>> {};
template <int M, int N, int K, class T>
struct WmmaLayoutC
    : std::conditional_t<
          N == 32, LayoutOfBlocks<T, LayoutC<WmmaBlock<M, N, K>, T>, 32, 8, 16, 0, true>,
          LayoutOfBlocks<T, LayoutC<WmmaBlock<M, N, K>, T>, M, N, M == 32 ? 16 : 0, M == 32 ? 0 : 8, false>> {
};

// Of a type that wmma does not take: the members of no layout, so that the sentence is the only error.
template <class T, int Rows, int Cols>
struct NoWmmaLayout : LayoutOf<T, Rows, Cols>, NoLayout {};

template <int M, int N, int K, class T, Major major>
struct LayoutA<WmmaShape<M, N, K>, T, major>
    : std::conditional_t<wmma_has_operand<WmmaShape<M, N, K>, T>(), WmmaLayoutA<M, N, K, T>,
                         NoWmmaLayout<T, M, K>> {
  static_assert(wmma_has_operand<WmmaShape<M, N, K>, T>() || !Element<T>::exists,
                "LayoutA: nvcuda::wmma takes no A of this element type in this shape");
};

template <int M, int N, int K, class T, Major major>
struct LayoutB<WmmaShape<M, N, K>, T, major>
    : std::conditional_t<wmma_has_operand<WmmaShape<M, N, K>, T>(), WmmaLayoutB<M, N, K, T>,
                         NoWmmaLayout<T, K, N>> {
  static_assert(wmma_has_operand<WmmaShape<M, N, K>, T>() || !Element<T>::exists,
                "LayoutB: nvcuda::wmma takes no B of this element type in this shape");
};

// Whether nvcuda::wmma accumulates in T in this shape.
template <class Shape, class T>
constexpr bool wmma_has_accumulator() {
  const bool is_half = std::is_same<T, __half>::value, is_float = std::is_same<T, float>::value;
  return (wmma_has_operand<Shape, __half>() &&
          (is_half || is_float || std::is_same<T, std::int32_t>::value)) ||
         (wmma_has_operand<Shape, tf32>() && is_float) ||
         (wmma_has_operand<Shape, double>() && std::is_same<T, double>::value);
}

template <int M, int N, int K, class T>
struct LayoutC<WmmaShape<M, N, K>, T> : std::conditional_t<wmma_has_accumulator<WmmaShape<M, N, K>, T>(),
                                                           WmmaLayoutC<M, N, K, T>, NoWmmaLayout<T, M, N>> {
  static_assert(wmma_has_accumulator<WmmaShape<M, N, K>, T>() || !Element<T>::exists,
                "LayoutC: nvcuda::wmma does not accumulate in this type in this shape");
};

}  // namespace tenon
