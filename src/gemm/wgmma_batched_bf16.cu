// The wgmma kernels for batches of bf16.
#include "gemm/wgmma_batched_kernels.cuh"

namespace tenon {

void append_wgmma_batched_bf16(std::vector<BatchedKernel>& list) {
  append_wgmma_stacked_of_type<__nv_bfloat16>("wgmma_batched_bf16", list);
}

}  // namespace tenon
