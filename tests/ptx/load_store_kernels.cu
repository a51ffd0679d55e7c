// The wrappers of loads, stores and barriers, each executed: see load_store_test.cpp.
#include <cstdint>

#include "tenon/ptx/barrier.hpp"
#include "tenon/ptx/ld_shared.hpp"
#include "tenon/ptx/shared_address.hpp"
#include "tenon/ptx/special_registers.hpp"
#include "tenon/ptx/st_global.hpp"
#include "tenon/ptx/st_shared.hpp"

using namespace tenon::ptx;

// 64 threads. The first warp stores words to shared memory, both wait on a named barrier, and each thread
// loads the words of its neighbour and stores them, some under a predicate: 8 words and 2 halves a thread.
extern "C" __global__ void moves(uint32_t* out, uint16_t* half) {
  __shared__ __align__(16) uint32_t words[128];
  const uint32_t base = shared_address(words), t = mov_u32_laneid() + threadIdx.x / 32 * 32;
  const uint32_t four[4] = {t, t + 100, t + 200, t + 300};
  if (t < 32) {
    st_shared_v4_b32(base + 16 * t, four);
    bar_arrive<64>(3);
  } else {
    bar_sync<64>(3);
  }
  bar_sync<64>(4);
  uint32_t other[4], kept = 7;
  ld_shared_v4_b32(other, base + 16 * ((t + 1) % 32));
  ld_shared_b32(kept, base + 16 * (t % 32), t % 2);
  st_global_v4_b32(out + 8 * t, other, t != 5);
  st_global_b32(out + 8 * t + 4, kept);
  st_global_b32(out + 8 * t + 5, 1000 + t, t & 4);
  st_global_b16(half + 2 * t, ld_shared_b16(base + 16 * (t % 32) + 4));
  st_global_u16(half + 2 * t + 1, ld_shared_u16(base + 16 * (t % 32) + 8), t < 40);
}

// The narrower stores and the pairs, one thread: 16 words of shared memory, read back by pairs.
extern "C" __global__ void widths(uint32_t* out) {
  __shared__ __align__(16) uint32_t words[16];
  const uint32_t base = shared_address(words);
  const uint32_t two[2] = {21, 22};
  const float reals[2] = {1.5F, -2.0F};
  st_shared_b32(base, 0xffffffffU);
  st_shared_b16(base + 2, 0x1234);
  st_shared_f32(base + 4, 3.0F);
  st_shared_v2_b32(base + 8, two);
  st_shared_v2_f32(base + 16, reals);
  uint32_t pair[2];
  int32_t integers[2];
  float pair_of_reals[2];
  ld_shared_v2_b32(pair, base);
  ld_shared_v2_s32(integers, base + 8);
  ld_shared_v2_f32(pair_of_reals, base + 16);
  out[0] = pair[0];
  out[1] = pair[1];
  out[2] = static_cast<uint32_t>(integers[0] - integers[1]);
  out[3] = __float_as_uint(pair_of_reals[0] + pair_of_reals[1]);
  float four[4];
  ld_shared_v4_f32(four, base);
  out[4] = __float_as_uint(four[1]);
  out[5] = ld_shared_b32(base + 12);
}
