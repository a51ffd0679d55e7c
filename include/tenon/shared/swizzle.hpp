// The XOR swizzle that spreads a tile over the banks of shared memory. Plain C++17, constexpr.
//
// A tile is stored in rows of 32, 64 or 128 bytes, in chunks of 16 bytes. Chunk c
// of row r is at position c ^ f(r) of its row, where f increases with every 128 bytes. Equal chunks of eight
// neighbouring rows are then on different banks, so ldmatrix reads them in one wavefront. If the tile starts
// on a multiple of 1024 bytes, this is the swizzle of TMA (CU_TENSOR_MAP_SWIZZLE_32B / 64B / 128B) and of the
// wgmma descriptors: the same address function serves tiles written by TMA and by threads.
#pragma once

#include "tenon/fragment/host_device.hpp"

namespace tenon {

inline constexpr int chunk_bytes = 16;  // what one lane of ldmatrix and one cp.async moves

// Position, in chunks, of chunk `chunk` in row `row`. row_bytes: 32, 64 or 128.
template <int row_bytes>
TENON_HOST_DEVICE constexpr int swizzled_chunk(int row, int chunk) {
  static_assert(row_bytes == 32 || row_bytes == 64 || row_bytes == 128,
                "swizzled_chunk: a row of a swizzled tile must have 32, 64 or 128 bytes");
  return chunk ^ (row / (128 / row_bytes) % (row_bytes / chunk_bytes));
}

}  // namespace tenon
