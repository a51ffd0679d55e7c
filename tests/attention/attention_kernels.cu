// An entry for each kernel of attention_kernels.hpp, with a name that a test can ask for.
#include "attention/attention_kernels.hpp"

using namespace tenon;

template <class Kernel>
using Run = AttentionWgmma<typename Kernel::Config, typename Kernel::Mask, typename Kernel::Score>;

#define TENON_TEST_ENTRY(name, Kernel)                                                                    \
  extern "C" __global__ void __launch_bounds__(Kernel::Config::threads, 1)                                \
      name(const __grid_constant__ AttentionMaps maps, const __grid_constant__ AttentionWgmmaArguments p, \
           const __grid_constant__ Kernel::Mask mask, const __grid_constant__ Kernel::Score score) {      \
    extern __shared__ std::uint8_t shared[];                                                              \
    Run<Kernel>::run(maps, p, mask, score, shared);                                                       \
  }
TENON_TEST_ENTRY(full_f16, tenon::testing::FullF16)
TENON_TEST_ENTRY(causal_bf16, tenon::testing::CausalBf16)
TENON_TEST_ENTRY(local_f16, tenon::testing::LocalF16)
TENON_TEST_ENTRY(even_f16, tenon::testing::EvenF16)
