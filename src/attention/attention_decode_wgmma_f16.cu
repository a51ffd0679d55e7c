// The wgmma kernels of MLA decode of f16.
#include "attention/decode_wgmma_kernels.cuh"

namespace tenon {

void append_attention_decode_wgmma_f16(std::vector<AttentionKernel>& list) {
  append_attention_decode_wgmma<__half>("attention_decode_wgmma_f16", list);
}

}  // namespace tenon
