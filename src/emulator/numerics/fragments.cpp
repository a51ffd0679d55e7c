#include "emulator/numerics/fragments.hpp"

#include <stdexcept>

namespace tenon::emulator::numerics {
namespace {

using ptx::Type;

Coord coord(int row, int column) {
  return {static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)};
}

// Sets every element of a fragment by `rule(group, thread, reg, element)`; lane = 4 * group + thread.
template <typename Rule>
Fragment fill(Fragment fragment, Rule rule) {
  for (int lane = 0; lane < Fragment::lanes; ++lane) {
    for (int reg = 0; reg < fragment.registers(); ++reg) {
      for (int element = 0; element < fragment.elements(); ++element) {
        fragment.set(lane, reg, element, rule(lane / 4, lane % 4, reg, element));
      }
    }
  }
  return fragment;
}

// Registers of a matrix of `rows` x `columns` elements distributed over a warp.
int register_count(int rows, int columns, int bits) {
  return rows * columns * (bits < 32 ? bits : 32) / (32 * Fragment::lanes);
}

}  // namespace

int element_bits(Type type) {
  switch (type) {
    case Type::b1:
      return 1;
    case Type::s4:
    case Type::u4:
      return 4;
    case Type::s8:
    case Type::u8:
    case Type::e4m3:
    case Type::e5m2:
      return 8;
    case Type::f16:
    case Type::bf16:
      return 16;
    case Type::tf32:
    case Type::f32:
    case Type::s32:
      return 32;
    case Type::f64:
      return 64;
    default:
      throw std::logic_error("element_bits: not a type of a matrix instruction");
  }
}

Fragment mma_fragment(Matrix matrix, Shape shape, Type type, bool sparse) {
  const int bits = element_bits(type);
  const bool tall = shape.m == 16;  // m8: each lane holds one row where m16 has two, 8 apart
  switch (matrix) {
    case Matrix::a: {
      const int k = sparse ? shape.k / 2 : shape.k;
      return fill(Fragment(register_count(shape.m, k, bits), bits),
                  [=, per = bits < 32 ? 32 / bits : 1](int group, int thread, int reg, int element) {
                    const int row = group + (tall ? 8 * (reg % 2) : 0);
                    const int block = tall ? reg / 2 : reg;
                    return coord(row, 4 * per * block + per * thread + element);
                  });
    }
    case Matrix::b:
      return fill(Fragment(register_count(shape.k, shape.n, bits), bits),
                  [per = bits < 32 ? 32 / bits : 1](int group, int thread, int reg, int element) {
                    return coord(4 * per * reg + per * thread + element, group);
                  });
    case Matrix::c:
      return fill(Fragment(register_count(shape.m, shape.n, bits), bits),
                  [per = bits < 32 ? 32 / bits : 1](int group, int thread, int reg, int element) {
                    const int i = reg * per + element;  // index among the lane's elements
                    return coord(group + 8 * (i / 2), 2 * thread + i % 2);
                  });
  }
  throw std::logic_error("mma_fragment: no such matrix");
}

Fragment m8n8k4_fragment(Matrix matrix, Type type, bool row_major) {
  // Lanes 4q .. 4q+3 and 16+4q .. 16+4q+3 hold product q.
  Fragment fragment(matrix == Matrix::c ? (type == Type::f32 ? 8 : 4) : 2, element_bits(type));
  for (int lane = 0; lane < Fragment::lanes; ++lane) {
    const int q = lane % 16 / 4, thread = lane % 4, upper = lane / 16;
    for (int i = 0; i < fragment.registers() * fragment.elements(); ++i) {
      int row = 0, column = 0;
      switch (matrix) {
        case Matrix::a:
          row = row_major ? thread + 4 * upper : i + 4 * upper;
          column = row_major ? i : thread;
          row += 8 * q;
          break;
        case Matrix::b:
          row = row_major ? thread : i;
          column = row_major ? i + 4 * upper : thread + 4 * upper;
          column += 8 * q;
          break;
        case Matrix::c:
          row = type == Type::f32 ? thread % 2 + (i & 2) + 4 * upper : thread + 4 * upper;
          column = type == Type::f32 ? (i & 4) + (thread & 2) + i % 2 : i;
          row += 8 * q;
          break;
      }
      fragment.set(lane, i / fragment.elements(), i % fragment.elements(), coord(row, column));
    }
  }
  return fragment;
}

Fragment wmma_fragment(Matrix matrix, Shape shape, Type type) {
  const int bits = element_bits(type);
  if (shape.m == 8 && shape.n == 8) return mma_fragment(matrix, shape, type);
  // m8n32 is computed as its transpose, n32m8: swaps the roles, then the coordinates.
  const bool transposed = shape.m == 8;
  const int rows = transposed ? shape.n : shape.m, columns = transposed ? shape.m : shape.n;
  if (transposed && matrix != Matrix::c) matrix = matrix == Matrix::a ? Matrix::b : Matrix::a;
  // Consecutive blocks of m16n8: two stacked vertically (32 x 8) or side by side (16 x 16).
  const Shape block_shape{16, 8, shape.k};
  const Fragment block = mma_fragment(matrix, block_shape, type);
  const int blocks = matrix == Matrix::a   ? rows / 16
                     : matrix == Matrix::b ? columns / 8
                                           : rows / 16 * (columns / 8);
  const bool below = rows == 32;
  // f16 operands take 8 registers in every shape, more than some shapes need.
  const int registers = block.registers() * blocks;
  const int copies = type == Type::f16 && matrix != Matrix::c ? 8 / registers : 1;
  Fragment fragment(registers, bits, copies);
  for (int lane = 0; lane < Fragment::lanes; ++lane) {
    for (int reg = 0; reg < registers; ++reg) {
      const int number = reg / block.registers();
      for (int element = 0; element < fragment.elements(); ++element) {
        const Coord inner = block.at(lane, reg % block.registers(), element);
        int row = inner.row, column = inner.column;
        if (matrix == Matrix::a || (matrix == Matrix::c && below)) row += 16 * number;
        if (matrix == Matrix::b || (matrix == Matrix::c && !below)) column += 8 * number;
        fragment.set(lane, reg, element, transposed ? coord(column, row) : coord(row, column));
      }
    }
  }
  return fragment;
}

int sparse_selectors(Shape shape, Type type) {
  switch (element_bits(type)) {
    case 32:
      return shape.k == 8 ? 4 : 2;
    case 16:
      return shape.k == 16 ? 4 : 2;
    case 8:
      return shape.k == 32 ? 2 : 1;
    default:
      return shape.k == 64 ? 2 : 1;
  }
}

int sparse_column(Shape shape, Type type, int selector, const std::uint64_t (&metadata)[Fragment::lanes],
                  int row, int index) {
  // Metadata consists of groups of 4 bits: two indices of 2 bits. A group covers 4 columns and 2 stored
  // elements (tf32: 2 and 1, as two 16-bit halves; 4-bit types: 8 and 4, in twos).
  const int bits = element_bits(type);
  const int stored = bits == 32 ? 1 : bits == 4 ? 4 : 2;
  const int group = index / stored;
  const int lane_group = row % 8, lower = row / 8;
  int lane = 0, position = 0;  // in a group of four lanes; of the 4 bits in the register
  if (sparse_selectors(shape, type) == 4) {
    lane = selector;
    position = 4 * lower + group;
  } else if (bits >= 16) {
    lane = 2 * selector + group / 4;
    position = 4 * lower + group % 4;
  } else if (sparse_selectors(shape, type) == 2) {
    lane = 2 * selector + lower;
    position = group;
  } else {
    lane = lower + 2 * (group / 8);
    position = group % 8;
  }
  const auto indices = static_cast<int>(metadata[4 * lane_group + lane] >> (4 * position)) & 15;
  if (bits == 32) return 2 * group + ((indices & 3) >> 1);
  const int within = index % stored;
  if (bits == 4) return 8 * group + 2 * (within < 2 ? indices & 3 : indices >> 2) + within % 2;
  return 4 * group + (within == 0 ? indices & 3 : indices >> 2);
}

}  // namespace tenon::emulator::numerics
