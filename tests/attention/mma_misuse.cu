// Misuse of the mma.sync kernel of attention: each fails to compile with its sentence.
#include "tenon/attention/launch_sm80.hpp"

using namespace tenon;

template <int ValueDimension, int KeyRows, int Stages, Overlap overlap>
const void* kernel() {
  using Config = AttentionMmaConfig<__half, 64, ValueDimension, 4, 2, KeyRows, 32, Stages, true, 1, overlap>;
  return reinterpret_cast<const void*>(
      &attention_mma<Config, PlainScore, Alignment::full_16, Sequences::equal>);
}

// Q has as many bytes as 64 keys with 64 columns of values.
const void* misuse() {
#if defined(MISUSE_steps)
  return kernel<64, 48, 3, Overlap::within>();
#elif defined(MISUSE_stages)
  return kernel<64, 64, 2, Overlap::ahead>();
#elif defined(MISUSE_query)
  return kernel<64, 32, 2, Overlap::within>();
#elif defined(MISUSE_query_ahead)
  return kernel<32, 64, 3, Overlap::ahead>();
#else
  return kernel<64, 64, 2, Overlap::within>();
#endif
}
