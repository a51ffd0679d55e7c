// A tensor of four dimensions in device memory, as TMA reads it: matrices of contiguous rows, in two outer
// dimensions. Plain C++17; nothing stands below this file.
#pragma once

#include "tenon/ptx/standard.hpp"

namespace tenon {

// outer[1] x outer[0] matrices of `rows` rows of `columns` contiguous elements of 1, 2 or 4 bytes. Strides in
// elements: from a row to the next, and from a matrix to the next along both outer dimensions.
struct TensorInMemory {
  const void* data;
  int element_bytes, columns, rows;
  int outer[2];
  std::int64_t row_stride, outer_stride[2];
};

}  // namespace tenon
