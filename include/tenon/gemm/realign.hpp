// Runs of 16-bit elements that do not begin where they should: shifted in registers to where memory wants
// them, and cleared in shared memory where they begin with elements of something else. Below:
// ptx/ld_shared.hpp, ptx/st_shared.hpp.
#pragma once

#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/st_shared.hpp"
#include "tenon/ptx/standard.hpp"

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

// The first `count` (0 to 7) elements of a chunk of 16 bytes become zeros. chunk: an address in the shared
// window.
__device__ __forceinline__ void clear_elements(std::uint32_t chunk, int count) {
  std::uint32_t word[4];
  ptx::ld_shared_v4_b32(word, chunk);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    word[i] = count >= 2 * i + 2 ? 0U : count == 2 * i + 1 ? word[i] & 0xffff0000U : word[i];
  ptx::st_shared_v4_b32(chunk, word);
}

}  // namespace tenon
