// The cp.async family for operands of any alignment: each operand is copied as wide as its address allows.
#pragma once

#include "gemm/cp_async_kernels.cuh"

namespace tenon {

template <class T, class Acc, class Block, class Warp, int stages>
void append_any_kernels(std::vector<Kernel>& list) {
  append_cp_async_kernels<T, Acc, Block, Warp, stages, Alignment::any>(list);
}

}  // namespace tenon
