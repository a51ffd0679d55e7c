// The decode kernels of bf16.
#include "attention/decode_kernels.cuh"

namespace tenon {
namespace {

constexpr const char* ptx_file = "attention_decode_bf16" TENON_SMALL_PTX_SUFFIX;

}  // namespace

void append_attention_decode_bf16(std::vector<AttentionKernel>& list) {
  append_attention_decode<__nv_bfloat16>(ptx_file, list);
}
void combine_attention_splits_bf16(const AttentionProblem& problem, int splits, Launch* launch) {
  combine_attention_splits<__nv_bfloat16>(ptx_file, problem, splits, launch);
}

}  // namespace tenon
