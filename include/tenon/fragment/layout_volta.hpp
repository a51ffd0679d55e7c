// Layouts of f16 mma.m8n8k4 (PTX ISA 9.7.14.5.1), the instruction of Volta, which later architectures
// emulate. A warp computes four independent 8x8x4 products. The lanes 4q .. 4q+3 and 16+4q .. 16+4q+3 hold
// product q. A coordinate has an owner in each of the four: owner(row, col, matrix). Included by layout.hpp.
#pragma once

#include "tenon/fragment/layout.hpp"

namespace tenon {

// The product of a lane, and the lane's place among the product's 8 lanes: t = lane % 4, and the half of the
// warp.
struct VoltaLane {
  TENON_HOST_DEVICE static constexpr int matrix_of(int lane) { return lane % 16 / 4; }

 protected:
  TENON_HOST_DEVICE static constexpr int half(int lane) { return lane / 16; }
  TENON_HOST_DEVICE static constexpr int lane(int matrix, int half, int t) {
    return 16 * half + 4 * matrix + t;
  }

  // A lane's index along a dimension of 8, where each lane holds one index.
  TENON_HOST_DEVICE static constexpr int spread(int lane) { return lane % 4 + 4 * half(lane); }
};

template <Major major>
struct LayoutA<m8n8k4, __half, major> : LayoutOf<__half, 8, 4, 4>, VoltaLane {
  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    if (major == Major::row) return {spread(lane), element};
    return {element + 4 * half(lane), lane % 4};
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col, int matrix = 0) {
    if (major == Major::row) return {lane(matrix, row / 4, row % 4), col};
    return {lane(matrix, row / 4, col), row % 4};
  }
};

template <Major major>
struct LayoutB<m8n8k4, __half, major> : LayoutOf<__half, 4, 8, 4>, VoltaLane {
  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    if (major == Major::row) return {lane % 4, element + 4 * half(lane)};
    return {element, spread(lane)};
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col, int matrix = 0) {
    if (major == Major::row) return {lane(matrix, col / 4, row), col % 4};
    return {lane(matrix, col / 4, col % 4), row};
  }
};

template <>
struct LayoutC<m8n8k4, __half> : LayoutOf<__half, 8, 8, 4>, VoltaLane {
  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) { return {spread(lane), element}; }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col, int matrix = 0) {
    return {lane(matrix, row / 4, row % 4), col};
  }
};

// In f32 a lane holds 2x2 blocks that span two rows: bit 1 of the element number selects the row two further
// down, bit 2 the column four further right.
template <>
struct LayoutC<m8n8k4, float> : LayoutOf<float, 8, 8, 4>, VoltaLane {
  TENON_HOST_DEVICE static constexpr Coord coord(int lane, int element) {
    return {lane % 2 + (element & 2) + 4 * half(lane), (element & 4) + (lane & 2) + element % 2};
  }
  TENON_HOST_DEVICE static constexpr Owner owner(int row, int col, int matrix = 0) {
    return {lane(matrix, row / 4, row % 2 + (col & 2)), (col & 4) + (row & 2) + col % 2};
  }
};

}  // namespace tenon
