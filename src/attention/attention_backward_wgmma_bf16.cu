// The wgmma backward kernels of attention of bf16.
#include "attention/backward_wgmma_kernels.cuh"

namespace tenon {

void append_attention_backward_wgmma_bf16(std::vector<AttentionBackwardKernel>& list) {
  append_attention_backward_wgmma<__nv_bfloat16>("attention_backward_wgmma_bf16", list);
}

}  // namespace tenon
