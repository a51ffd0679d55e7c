// The splitting kernel for sm_90: its beginning overlaps the end of what runs before it, and its end the
// beginning of the product that waits for the parts.
#include "gemm/split_kernel.cuh"

namespace tenon {
namespace split {

#define TENON_SPLIT(precision)                                                    \
  extern "C" __global__ void __launch_bounds__(block_threads)                     \
      tenon_split_##precision##_sm_90(const __grid_constant__ SplitTasks tasks) { \
    cudaTriggerProgrammaticLaunchCompletion();                                    \
    cudaGridDependencySynchronize();                                              \
    split_operand<Precision::precision>(tasks);                                   \
  }
TENON_SPLIT(tf32)
TENON_SPLIT(f16)
TENON_SPLIT(bf16)
TENON_SPLIT(bf16x3)
TENON_SPLIT(bf16x6)
TENON_SPLIT(tf32x3)
#undef TENON_SPLIT

}  // namespace split

const void* split_sm_90(Precision precision) noexcept {
  using namespace split;
  switch (precision) {
    case Precision::tf32:
      return reinterpret_cast<const void*>(&tenon_split_tf32_sm_90);
    case Precision::f16:
      return reinterpret_cast<const void*>(&tenon_split_f16_sm_90);
    case Precision::bf16:
      return reinterpret_cast<const void*>(&tenon_split_bf16_sm_90);
    case Precision::bf16x3:
      return reinterpret_cast<const void*>(&tenon_split_bf16x3_sm_90);
    case Precision::bf16x6:
      return reinterpret_cast<const void*>(&tenon_split_bf16x6_sm_90);
    case Precision::tf32x3:
      return reinterpret_cast<const void*>(&tenon_split_tf32x3_sm_90);
    case Precision::none:
      break;
  }
  return nullptr;
}

}  // namespace tenon
