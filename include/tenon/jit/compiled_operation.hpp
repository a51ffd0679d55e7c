// The operation of kernels that were compiled apart from the program: the plans know it by its bytes, and by
// its operands, if it has some. sm90::GemmKernel<Config, CompiledOperation> (CompiledWithOperands) is the
// kernel type to launch, with launch_sm90.hpp, which has its plan; likewise sm80. In namespace tenon, as what
// they overload. Host code. Below: gemm/launch.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstddef>
#include <utility>

#include "tenon/gemm/launch.hpp"

namespace tenon {

struct CompiledOperation {
  // What Launch::function takes, cudaKernel_t too: gemm_wgmma_typed<Config, Op, type> for the type of the
  // problem's C, and gemm_of_no_k<Op, Value, TC>.
  const void* kernel = nullptr;
  const void* kernel_no_k = nullptr;
  // The operation as the kernels know it.
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

// An operation with operands. Op: a struct of the program with the members of the one that was compiled, so
// that WithOperands<Op, Operands> is what the kernels get.
template <class Op, class Operands>
struct CompiledWithOperands : CompiledOperation {
  WithOperands<Op, Operands> op;

  template <class... O, std::size_t... I>
  CompiledWithOperands(const Op& operation,
                       const StoredOperands<EpilogueOperands<O...>, std::index_sequence<I...>>& operands)
      : op(operation, static_cast<const StoredOperand<I, O>&>(operands).operand...) {}

  // The same as plain bytes. given: `op`, perhaps with the map of its matrix; it must outlive the result.
  CompiledOperation bytes_of(const WithOperands<Op, Operands>& given) const {
    CompiledOperation operation = *this;
    operation.data = &given, operation.size = sizeof given, operation.alignment = alignof(decltype(given));
    return operation;
  }
};
template <class Op, class Operands, class Value>
inline constexpr bool
    is_epilogue<CompiledWithOperands<Op, Operands>, Value, CompiledWithOperands<Op, Operands>> = true;
template <class Op, class Operands>
inline constexpr bool has_operands<CompiledWithOperands<Op, Operands>> = true;

template <class Op, class Operands>
Status check_operands(const CompiledWithOperands<Op, Operands>& op, std::int64_t n) {
  return check_operands(op.op.operands, n);
}
template <class Value, class TC, class Op, class Operands>
Status plan_no_k(const Product& product, const CompiledWithOperands<Op, Operands>& op, Launch* launch) {
  return plan_no_k<Value, TC>(product, op.bytes_of(op.op), launch);
}

}  // namespace tenon
