// Misuse of the wgmma backward kernel of attention: each fails to compile with its sentence.
#include "tenon/attention/kernel_backward_wgmma.hpp"

using namespace tenon;

template <class T, int head>
const void* kernel() {
  return reinterpret_cast<const void*>(&attention_backward_wgmma<AttentionBackwardConfig<T, head>, FullMask>);
}

const void* misuse() {
#if defined(MISUSE_head)
  return kernel<__half, 96>();
#elif defined(MISUSE_type)
  return kernel<float, 64>();
#else
  return kernel<__half, 64>();
#endif
}
