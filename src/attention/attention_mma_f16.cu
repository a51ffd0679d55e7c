// The mma.sync attention kernels of f16.
#include "attention/mma_kernels.cuh"

namespace tenon {

void append_attention_mma_f16(std::vector<AttentionKernel>& list) {
  append_attention_mma<__half>("attention_mma_f16", list);
}

}  // namespace tenon
