// The wgmma backward kernels of attention of f16.
#include "attention/backward_wgmma_kernels.cuh"

namespace tenon {

void append_attention_backward_wgmma_f16(std::vector<AttentionBackwardKernel>& list) {
  append_attention_backward_wgmma<__half>("attention_backward_wgmma_f16", list);
}

}  // namespace tenon
