// Runs of 16-bit elements that do not begin where they should: moved in registers to where memory wants them,
// and cleared in shared memory where they begin with what belongs to others.
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

// The first `count` (0 to 7) elements of a chunk of 16 bytes become zeros. chunk: an address in the shared
// window.
__device__ __forceinline__ void clear_elements(std::uint32_t chunk, int count) {
  std::uint32_t word[4];
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
               : "r"(chunk)
               : "memory");
#pragma unroll
  for (int i = 0; i < 4; ++i)
    word[i] = count >= 2 * i + 2 ? 0U : count == 2 * i + 1 ? word[i] & 0xffff0000U : word[i];
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(chunk), "r"(word[0]), "r"(word[1]),
               "r"(word[2]), "r"(word[3])
               : "memory");
}

}  // namespace tenon
