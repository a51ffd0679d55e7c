// The wgmma kernels for batches of f16.
#include "gemm/wgmma_batched_kernels.cuh"

namespace tenon {

void append_wgmma_batched_f16(std::vector<BatchedKernel>& list) {
  append_wgmma_stacked_of_type<__half>("wgmma_batched_f16", list);
}

}  // namespace tenon
