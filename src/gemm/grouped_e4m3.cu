// The kernels for grouped products of block-scaled e4m3.
#include "gemm/grouped_kernels.cuh"
#include "tenon/gemm/launch_sm90_block_scaled.hpp"

namespace tenon {

void append_grouped_e4m3(std::vector<GroupedKernel>& list) {
  append_grouped<Grouped<sm90::BlockScaledConfig<256, 128, ClusterShape<2, 1>, 2>>>(list, "grouped_e4m3", 1);
}

}  // namespace tenon
