// The wgmma attention kernels of bf16.
#include "attention/wgmma_kernels.cuh"

namespace tenon {

void append_attention_wgmma_bf16(std::vector<AttentionKernel>& list) {
  append_attention_wgmma<__nv_bfloat16>("attention_wgmma_bf16", list);
}

}  // namespace tenon
