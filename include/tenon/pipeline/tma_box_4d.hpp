// Copies boxes of a tensor of four dimensions (tensor_in_memory.hpp) by TMA. Below: tma_ring.hpp.
#pragma once

#include "tenon/pipeline/tma_ring.hpp"

namespace tenon {

// Where a box begins: its row, and the numbers of its matrix along the two outer dimensions.
struct BoxPosition {
  int row, outer0, outer1;
};

// Starts the copy of the box whose first element is in column `column` to `destination` in shared memory,
// counted on `barrier`. Rows beyond the matrix are filled with zeros, and never come from the next matrix.
// See copy_box().
__device__ __forceinline__ void copy_box_4d(void* destination, const TensorMap& map, BoxPosition at,
                                            int column, std::uint64_t* barrier) {
  const std::int32_t coordinates[4] = {column, at.row, at.outer0, at.outer1};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, destination, &map,
                                  coordinates, barrier);
}

// The same, to the same address in every CTA of the cluster whose bit is set in `blocks`; each CTA's own
// barrier counts its copy.
__device__ __forceinline__ void copy_box_4d_to_cluster(void* destination, const TensorMap& map,
                                                       BoxPosition at, int column, std::uint64_t* barrier,
                                                       std::uint16_t blocks) {
  const std::int32_t coordinates[4] = {column, at.row, at.outer0, at.outer1};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, destination, &map,
                                  coordinates, barrier, blocks);
}

}  // namespace tenon
