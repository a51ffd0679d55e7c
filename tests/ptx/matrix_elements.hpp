// The 8 x 8 matrices of ldmatrix, stmatrix and movmatrix as the PTX ISA draws them, on elements that are
// numbered.
#pragma once

#include <cstdint>

namespace tenon::test {

// Element (row, column) of matrix 0..3: all 256 numbers differ, and none is 0.
constexpr std::uint16_t element(int matrix, int row, int column) {
  return static_cast<std::uint16_t>(0x1000 + 64 * matrix + 8 * row + column);
}

// What a lane holds of a matrix: (row l / 4, columns 2 * (l % 4) and the next), or that of the transposed
// matrix.
constexpr std::uint32_t register_of(int matrix, int lane, bool transposed) {
  const int g = lane / 4, t = lane % 4;
  const std::uint32_t low = transposed ? element(matrix, 2 * t, g) : element(matrix, g, 2 * t);
  const std::uint32_t high = transposed ? element(matrix, 2 * t + 1, g) : element(matrix, g, 2 * t + 1);
  return low | high << 16;
}

// Where in shared memory, in units of 16 bytes, the test puts the row whose address lane 0..31 supplies:
// scattered, so that an instruction that takes rows to be contiguous fails.
#if defined(__CUDACC__)
__host__ __device__
#endif
    constexpr int
    row_slot(int lane) {
  return 5 * lane % 32;
}

}  // namespace tenon::test
