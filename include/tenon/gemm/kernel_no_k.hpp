// The kernel of products with k == 0: the operation of zeros. Below: element_type.hpp, epilogue.hpp.
#pragma once

#include "tenon/gemm/element_type.hpp"
#include "tenon/gemm/epilogue.hpp"

namespace tenon {

// C = op(0): one element a thread and iteration. Value: of the accumulators; TC: of C.
template <class Op, class Value, class TC>
__global__ void gemm_of_no_k(Output c, const __grid_constant__ Op op) {
  const auto operation = LoadedOperation<Op>::of(op);
  for (int row = static_cast<int>(blockIdx.y); row < c.m; row += static_cast<int>(gridDim.y)) {
    // In 64 bits: the stride beyond the last of 2^31 - 1 columns overflows an int.
    for (std::int64_t at = blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += gridDim.x * blockDim.x) {
      const int column = static_cast<int>(at);
      LaneRow<Value> values{};
      const Output element{c.data, c.ld, row + 1, column + 1, c.type};  // of the row, this one alone
      apply(operation, element, TypeOf<TC>::value, values, row, column);
      static_cast<TC*>(c.data)[row * c.ld + column] = static_cast<TC>(values.value[0][0]);
    }
  }
}

}  // namespace tenon
