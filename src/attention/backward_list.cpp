// The list of the backward kernels of attention.
#include "attention/backward_kernels.hpp"

namespace tenon {

const std::vector<AttentionBackwardKernel>& attention_backward_kernels() {
  static const std::vector<AttentionBackwardKernel> all = [] {
    std::vector<AttentionBackwardKernel> list;
#ifdef TENON_ATTENTION_WGMMA_OF_F16
    append_attention_backward_wgmma_f16(list);
#endif
#ifdef TENON_ATTENTION_WGMMA_OF_BF16
    append_attention_backward_wgmma_bf16(list);
#endif
#ifdef TENON_ATTENTION_OF_F16
    append_attention_backward_mma_f16(list);
#endif
#ifdef TENON_ATTENTION_OF_BF16
    append_attention_backward_mma_bf16(list);
#endif
    return list;
  }();
  return all;
}

const AttentionBackwardKernel* find_attention_backward_kernel(std::string_view name) {
  for (const AttentionBackwardKernel& kernel : attention_backward_kernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace tenon
