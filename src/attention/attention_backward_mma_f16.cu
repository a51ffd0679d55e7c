// The mma.sync backward kernels of attention of f16.
#include "attention/backward_mma_kernels.cuh"

namespace tenon {

void append_attention_backward_mma_f16(std::vector<AttentionBackwardKernel>& list) {
  append_attention_backward_mma<__half>("attention_backward_mma_f16", list);
}

}  // namespace tenon
