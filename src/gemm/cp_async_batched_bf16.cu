// The cp.async kernels for batches of bf16.
#include "gemm/cp_async_batched_kernels.cuh"

namespace tenon {

void append_cp_async_batched_bf16(std::vector<BatchedKernel>& list) {
  append_cp_async_batched_of_type<__nv_bfloat16>("cp_async_batched_bf16", list);
}

}  // namespace tenon
