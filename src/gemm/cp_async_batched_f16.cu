// The cp.async kernels for batches of f16.
#include "gemm/cp_async_batched_kernels.cuh"

namespace tenon {

void append_cp_async_batched_f16(std::vector<BatchedKernel>& list) {
  append_cp_async_batched_of_type<__half>("cp_async_batched_f16", list);
}

}  // namespace tenon
