// The small kernels for batches of bf16.
#include "gemm/small_kernels.cuh"

namespace tenon {

void append_small_bf16(std::vector<BatchedKernel>& list) {
  append_small_of_type<__nv_bfloat16>("small_bf16" TENON_SMALL_PTX_SUFFIX, list);
}

}  // namespace tenon
