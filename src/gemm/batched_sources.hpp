// The sources of the kernels for batches: each appends its kernels to the list (batched_list.cpp).
#pragma once

#include <vector>

#include "gemm/batched_kernels.hpp"

namespace tenon {

void append_small_f16(std::vector<BatchedKernel>& list);
void append_small_bf16(std::vector<BatchedKernel>& list);
void append_wgmma_batched_f16(std::vector<BatchedKernel>& list);
void append_wgmma_batched_bf16(std::vector<BatchedKernel>& list);
void append_cp_async_batched_f16(std::vector<BatchedKernel>& list);
void append_cp_async_batched_bf16(std::vector<BatchedKernel>& list);

}  // namespace tenon
