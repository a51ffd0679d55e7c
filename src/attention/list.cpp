// The list of the attention kernels.
#include "attention/kernels.hpp"

namespace tenon {

const std::vector<AttentionKernel>& attention_kernels() {
  static const std::vector<AttentionKernel> all = [] {
    std::vector<AttentionKernel> list;
#ifdef TENON_ATTENTION_WGMMA_OF_F16
    append_attention_decode_wgmma_f16(list);
#endif
#ifdef TENON_ATTENTION_WGMMA_OF_BF16
    append_attention_decode_wgmma_bf16(list);
#endif
#ifdef TENON_ATTENTION_OF_F16
    append_attention_decode_f16(list);
#endif
#ifdef TENON_ATTENTION_OF_BF16
    append_attention_decode_bf16(list);
#endif
#ifdef TENON_ATTENTION_WGMMA_OF_F16
    append_attention_wgmma_f16(list);
#endif
#ifdef TENON_ATTENTION_WGMMA_OF_BF16
    append_attention_wgmma_bf16(list);
#endif
#ifdef TENON_ATTENTION_WGMMA_OF_E4M3
    append_attention_wgmma_e4m3(list);
#endif
#ifdef TENON_ATTENTION_OF_F16
    append_attention_mma_f16(list);
#endif
#ifdef TENON_ATTENTION_OF_BF16
    append_attention_mma_bf16(list);
#endif
    return list;
  }();
  return all;
}

const AttentionKernel* find_attention_kernel(std::string_view name) {
  for (const AttentionKernel& kernel : attention_kernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace tenon
