// Tensor maps: what the copy engine is told about a matrix. Made on the host, passed to kernels by value.
#pragma once

#include <cstdint>

#include "tenon/status.hpp"

namespace tenon {

struct TensorMap;  // tenon/pipeline/tma_ring.hpp

// `lines` lines of `columns` contiguous elements of 1, 2 or 4 bytes, `ld` elements apart.
struct MatrixInMemory {
  const void* data;
  int element_bytes, lines, columns;
  std::int64_t ld;
};

// A map of the matrix, read (or written) in boxes of box_lines x box_columns: 128, 64 or 32 bytes wide and
// with the swizzle of that width, or of another width and without one. What lies outside of the matrix reads
// as zero. Refused: a base or a leading dimension that is no multiple of 16 bytes, a driver without tensor
// maps: device_unsupported.
Status make_tensor_map(const MatrixInMemory& matrix, int box_lines, int box_columns, TensorMap* map);

}  // namespace tenon
