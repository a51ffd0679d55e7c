// The band of the raster of persistent kernels.
#pragma once

#include <algorithm>
#include <cmath>

namespace tenon {

// Clusters that run at once read as few lines of A and B as possible if they stand in a square of C.
inline int square_band(int clusters, int rows, int columns) {
  return std::max(1,
                  static_cast<int>(std::lround(std::sqrt(static_cast<double>(clusters) * columns / rows))));
}

}  // namespace tenon
