// Misuse of the wgmma kernel of attention: each fails to compile with its sentence.
#include "tenon/attention/launch_sm90.hpp"

using namespace tenon;

template <class T, int head, class Schedule>
const void* kernel() {
  using Config = AttentionConfig<T, head, head, Schedule>;
  return reinterpret_cast<const void*>(&attention_wgmma<Config, FullMask, PlainScore>);
}
using Usual = AttentionSchedule<TileShape<128, 64, 0>, 1, 2>;

const void* misuse() {
#if defined(MISUSE_head)
  return kernel<__half, 40, Usual>();
#elif defined(MISUSE_type)
  return kernel<float, 64, Usual>();
#elif defined(MISUSE_queries)
  return kernel<__half, 64, AttentionSchedule<TileShape<64, 64, 0>, 1, 2> >();
#elif defined(MISUSE_keys)
  return kernel<__half, 64, AttentionSchedule<TileShape<128, 72, 0>, 1, 2> >();
#elif defined(MISUSE_keys_of_e4m3)
  return kernel<e4m3, 64, AttentionSchedule<TileShape<128, 80, 0>, 1, 2> >();
#elif defined(MISUSE_tiles)
  using Config = sm90::AttentionConfigFor<__half, 160, FullMask, PlainScore>;
  return reinterpret_cast<const void*>(&attention_wgmma<Config, FullMask, PlainScore>);
#elif defined(MISUSE_memory)
  return kernel<__half, 256, AttentionSchedule<TileShape<128, 128, 0>, 1, 2> >();
#else
  return kernel<__half, 64, Usual>();
#endif
}
