// The shape of a tile, and how much shared memory there is for tiles. Plain C++17; includes no other file of
// tenon.
#pragma once

namespace tenon {

// Shared memory that a CTA can have on compute capability 9.0, which has most: bytes.
inline constexpr int most_shared_bytes = 227 * 1024;

template <int M, int N, int K>
struct TileShape {
  static constexpr int m = M, n = N, k = K;
};

}  // namespace tenon
