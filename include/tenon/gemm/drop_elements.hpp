// Runs of 16-bit elements in registers, moved to where memory wants them.
#pragma once

#include <cstdint>

namespace tenon {

// Moves element `count` (0 to 7) of 16 to the front; the first 8 are defined afterwards.
__device__ __forceinline__ void drop_elements(std::uint32_t (&word)[8], unsigned count) {
#pragma unroll
  for (int x = 0; x < 6; ++x) word[x] = (count & 4) != 0 ? word[x + 2] : word[x];
#pragma unroll
  for (int x = 0; x < 5; ++x) word[x] = (count & 2) != 0 ? word[x + 1] : word[x];
#pragma unroll
  for (int x = 0; x < 4; ++x) word[x] = __funnelshift_r(word[x], word[x + 1], 16 * (count & 1));
}

}  // namespace tenon
