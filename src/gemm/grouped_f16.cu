// The kernels for grouped products of f16.
#include "gemm/grouped_kernels.cuh"

namespace tenon {

void append_grouped_f16(std::vector<GroupedKernel>& list) {
  append_grouped_tiles<__half, column_major>(list, "grouped_f16");
  append_grouped_tiles<__half, row_major>(list, "grouped_f16");
  append_grouped_k_tiles<__half>(list, "grouped_f16");
}

}  // namespace tenon
