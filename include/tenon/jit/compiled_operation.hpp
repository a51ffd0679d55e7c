// The operation of kernels that were compiled apart from the program: the plans know it by its bytes.
// sm90::GemmKernel<Config, CompiledOperation> is the kernel type to launch, with launch_sm90.hpp, which has
// its plan; likewise sm80. In namespace tenon, as what it overloads. Host code. Below: gemm/launch.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstddef>

#include "tenon/gemm/launch.hpp"

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

// The compiler of its kernels has checked it.
template <class Value>
inline constexpr bool is_epilogue<CompiledOperation, Value, CompiledOperation> = true;

// What plan_launch() calls for products with k == 0.
template <class Value, class TC>
Status plan_no_k(const Product& product, const CompiledOperation& op, Launch* launch) {
  launch->function = op.kernel_no_k;
  launch->arguments.set(prepare_no_k(product, launch));
  return launch->arguments.append(op.data, op.size, op.alignment);
}

}  // namespace tenon
