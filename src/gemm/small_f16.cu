// The small kernels for batches of f16.
#include "gemm/small_kernels.cuh"

namespace tenon {

void append_small_f16(std::vector<BatchedKernel>& list) {
  append_small_of_type<__half>("small_f16" TENON_SMALL_PTX_SUFFIX, list);
}

}  // namespace tenon
