// Tensor maps as values: what the TMA unit is told about a matrix. Made on the host (make_tensor_map.hpp),
// passed to kernels by value, used by copy_box() and its like (tma_ring.hpp). Plain C++17; nothing stands
// below this file.
#pragma once

#include <cstdint>

namespace tenon {

// A CUtensorMap by value, without <cuda.h>: its bytes, aligned as the instructions ask. Pass it as a
// __grid_constant__ kernel parameter.
struct alignas(64) TensorMap {
  std::uint64_t opaque[16];
};

// Of a matrix that is copied tile by tile: in boxes of a whole tile's lines, and, where a last tile has
// fewer, in boxes of those.
struct TileMap {
  TensorMap whole;
};
struct TileMaps {
  TensorMap whole, last;
};

// The eighths of a matrix: of[i] is a map of lines i, i + 8, ... of it, which lie equally to 16 bytes.
struct TensorMapsOfEighths {
  TensorMap of[8];
};

// A matrix in device memory: `lines` lines of `columns` contiguous elements of 1, 2 or 4 bytes, `ld` elements
// apart.
struct MatrixInMemory {
  const void* data;
  int element_bytes, lines, columns;
  std::int64_t ld;
};

}  // namespace tenon
