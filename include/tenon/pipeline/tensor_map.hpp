// Tensor maps as values: they describe a matrix to TMA. Made on the host (make_tensor_map.hpp), passed to
// kernels by value, used by copy_box() and similar functions (tma_ring.hpp). Plain C++17; nothing stands
// below this file.
#pragma once

#include "tenon/ptx/standard.hpp"

namespace tenon {

// A CUtensorMap by value, without <cuda.h>: its bytes, aligned as the instructions ask. Pass it as a
// __grid_constant__ kernel parameter.
struct alignas(64) TensorMap {
  std::uint64_t opaque[16];
};

// The maps of an operand that is loaded tile by tile: boxes of a whole tile's rows and, where kernels load
// the residue tile in a box of its own, boxes of the rows that exist in it.
struct OperandMap {
  TensorMap whole;
};
struct OperandMaps {
  TensorMap whole, residue;
};

// Row-interleaved (stride-8) views of a matrix: view[i] is a map of rows i, i + 8, ..., which all have the
// same offset from a multiple of 16 bytes.
struct RowInterleavedMaps {
  TensorMap view[8];
};

// A matrix in device memory, seen as row-major: `rows` rows of `columns` contiguous elements of 1, 2 or 4
// bytes; `ld` elements lie between the starts of two rows. A column-major matrix is passed as its transpose.
struct MatrixInMemory {
  const void* data;
  int element_bytes, rows, columns;
  std::int64_t ld;
};

}  // namespace tenon
