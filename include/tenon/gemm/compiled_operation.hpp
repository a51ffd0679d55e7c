// The operation of kernels that were compiled apart from the program (jit/gemm.hpp): the plans know it by its
// bytes. sm90::GemmKernel<Config, CompiledOperation> is the kernel type to launch. Host code.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstddef>

namespace tenon {

struct CompiledOperation {
  // What Launch::function takes, cudaKernel_t too: gemm_wgmma_typed<Config, Op, type> for the type of the
  // problem's C, and gemm_of_no_k<Op, Value, TC>.
  const void* kernel = nullptr;
  const void* kernel_no_k = nullptr;
  // The operation as the kernels know it. It must not have operands (WithOperands).
  const void* data = nullptr;
  std::size_t size = 0, alignment = 1;
};

}  // namespace tenon
