// The mma.sync attention kernels of bf16.
#include "attention/mma_kernels.cuh"

namespace tenon {

void append_attention_mma_bf16(std::vector<AttentionKernel>& list) {
  append_attention_mma<__nv_bfloat16>("attention_mma_bf16", list);
}

}  // namespace tenon
