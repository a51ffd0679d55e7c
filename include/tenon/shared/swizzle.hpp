// The XOR swizzle that spreads a tile over the banks of shared memory. Plain C++17, constexpr.
//
// A tile is stored as lines of 32, 64 or 128 bytes, cut into chunks of 16. Chunk c of line l stands at
// position c ^ f(l) of its line, where f counts lines that fill 128 bytes together: eight neighbouring lines
// then put equal chunks on different banks, so ldmatrix reads them in one wavefront. It is the pattern of the
// copy engine (CU_TENSOR_MAP_SWIZZLE_32B / 64B / 128B) and of the wgmma descriptors, when the tile starts on
// a multiple of 1024 bytes: whoever writes the tile, the same address function reads it.
#pragma once

#include "tenon/fragment/host_device.hpp"

namespace tenon {

inline constexpr int chunk_bytes = 16;  // what one lane of ldmatrix and one cp.async moves

// Position, in chunks, of chunk `chunk` in line `line`. line_bytes: 32, 64 or 128.
template <int line_bytes>
TENON_HOST_DEVICE constexpr int swizzled_chunk(int line, int chunk) {
  static_assert(line_bytes == 32 || line_bytes == 64 || line_bytes == 128,
                "swizzled_chunk: a line of a swizzled tile has 32, 64 or 128 bytes");
  return chunk ^ (line / (128 / line_bytes) % (line_bytes / chunk_bytes));
}

}  // namespace tenon
