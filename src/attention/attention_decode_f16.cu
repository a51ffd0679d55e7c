// The decode kernels of f16.
#include "attention/decode_kernels.cuh"

namespace tenon {

void append_attention_decode_f16(std::vector<AttentionKernel>& list) {
  append_attention_decode<__half>("attention_decode_f16" TENON_SMALL_PTX_SUFFIX, list);
}

}  // namespace tenon
