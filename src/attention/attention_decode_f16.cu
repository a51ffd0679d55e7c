// The decode kernels of f16.
#include "attention/decode_kernels.cuh"

namespace tenon {
namespace {

constexpr const char* ptx_file = "attention_decode_f16" TENON_SMALL_PTX_SUFFIX;

}  // namespace

void append_attention_decode_f16(std::vector<AttentionKernel>& list) {
  append_attention_decode<__half>(ptx_file, list);
}
void combine_attention_splits_f16(const AttentionProblem& problem, int splits, Launch* launch) {
  combine_attention_splits<__half>(ptx_file, problem, splits, launch);
}

}  // namespace tenon
