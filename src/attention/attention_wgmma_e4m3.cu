// The wgmma attention kernels of e4m3, whose O is of f16 or bf16.
#include "attention/wgmma_kernels.cuh"

namespace tenon {

void append_attention_wgmma_e4m3(std::vector<AttentionKernel>& list) {
  constexpr const char* ptx = "attention_wgmma_e4m3";
  append_attention_wgmma_of<e4m3, 64>(ptx, list);
  append_attention_wgmma_of<e4m3, 128>(ptx, list);
  append_attention_wgmma_of<e4m3, 256>(ptx, list);
}

}  // namespace tenon
