// The mma.sync backward kernels of attention of bf16.
#include "attention/backward_mma_kernels.cuh"

namespace tenon {

void append_attention_backward_mma_bf16(std::vector<AttentionBackwardKernel>& list) {
  append_attention_backward_mma<__nv_bfloat16>("attention_backward_mma_bf16", list);
}

}  // namespace tenon
