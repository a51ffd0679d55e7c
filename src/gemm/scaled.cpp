// The list of the kernels of block-scaled products.
#include "gemm/scaled.hpp"

namespace tenon {

ScaledKernels block_scaled_kernels() noexcept {
// Whether this build has the source: src/gemm/CMakeLists.txt.
#ifdef TENON_BLOCK_SCALED
  return all_block_scaled_kernels();
#else
  return {nullptr, 0};
#endif
}

}  // namespace tenon
