// The wgmma attention kernels of f16.
#include "attention/wgmma_kernels.cuh"

namespace tenon {

void append_attention_wgmma_f16(std::vector<AttentionKernel>& list) {
  append_attention_wgmma<__half>("attention_wgmma_f16", list);
}

}  // namespace tenon
