// The wgmma kernels of MLA decode of bf16.
#include "attention/decode_wgmma_kernels.cuh"

namespace tenon {

void append_attention_decode_wgmma_bf16(std::vector<AttentionKernel>& list) {
  append_attention_decode_wgmma<__nv_bfloat16>("attention_decode_wgmma_bf16", list);
}

}  // namespace tenon
