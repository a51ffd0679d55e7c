// The decode kernels of bf16.
#include "attention/decode_kernels.cuh"

namespace tenon {

void append_attention_decode_bf16(std::vector<AttentionKernel>& list) {
  append_attention_decode<__nv_bfloat16>("attention_decode_bf16" TENON_SMALL_PTX_SUFFIX, list);
}

}  // namespace tenon
