// The kernels for grouped products of bf16.
#include "gemm/grouped_kernels.cuh"

namespace tenon {

void append_grouped_bf16(std::vector<GroupedKernel>& list) {
  append_grouped_tiles<__nv_bfloat16, column_major>(list, "grouped_bf16");
  append_grouped_tiles<__nv_bfloat16, row_major>(list, "grouped_bf16");
  append_grouped_k_tiles<__nv_bfloat16>(list, "grouped_bf16");
}

}  // namespace tenon
