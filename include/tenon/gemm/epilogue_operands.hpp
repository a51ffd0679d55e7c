// Operands of an epilogue operation: the operation names them as types, the epilogue loads them, and the
// operation is called with their values, in their order.
//
//   struct BiasResidual {
//     using Operands = tenon::EpilogueOperands<tenon::ColumnVector<float>, tenon::MatrixOperand<half>>;
//     __device__ float operator()(float accumulator, int row, int column, float bias, float residual) const {
//       return accumulator + bias + residual;
//     }
//   };
//   using Kernel = tenon::sm90::GemmKernel<Config, tenon::WithOperands<BiasResidual>>;
//   tenon::Status s = tenon::launch<Kernel>(problem, {{}, bias, {residual, ld}}, stream);
//
// It may be called twice for an element, so it has no side effects. Include launch_sm80.hpp or
// launch_sm90.hpp. All stores take such an operation: each element loads what belongs to it. Hopper's kernels
// load a matrix of 16 bits by TMA where they can (store_tma_operands.hpp). Below: epilogue_operand.hpp,
// epilogue.hpp.
#pragma once

#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/epilogue_operand.hpp"
#include "tenon/pipeline/tensor_map.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// O: ColumnVector, RowVector, MatrixOperand or DeviceScalar, in the order in which the operation gets them.
template <class... O>
struct EpilogueOperands {
  static_assert((is_operand<O> && ...),
                "EpilogueOperands: an operand is a ColumnVector, a RowVector, a MatrixOperand or a "
                "DeviceScalar");
  static_assert((0 + ... + (is_matrix_operand<O> ? 1 : 0)) <= 1,
                "EpilogueOperands: an operation has at most one MatrixOperand");
  using Indices = std::index_sequence_for<O...>;
};

template <class Op, class = void>
struct OperandsOf {
  static_assert(!std::is_same_v<Op, Op>,
                "WithOperands: the operation names what it is called with: using Operands = "
                "EpilogueOperands<...>");
  using type = EpilogueOperands<>;
};
template <class Op>
struct OperandsOf<Op, std::void_t<typename Op::Operands>> {
  using type = typename Op::Operands;
};

// The value of each operand for one element of C.
template <std::size_t Index, class O>
struct OperandValue {
  using Operand = O;
  static constexpr std::size_t index = Index;
  typename O::Value value;
};
template <class Operands, class Indices = typename Operands::Indices>
struct OperandValues;
template <class... O, std::size_t... I>
struct OperandValues<EpilogueOperands<O...>, std::index_sequence<I...>> : OperandValue<I, O>... {
  // visit(value) for each operand.
  template <class Visit>
  __device__ __forceinline__ void for_each(const Visit& visit) {
    (visit(static_cast<OperandValue<I, O>&>(*this)), ...);
  }
  // op(accumulator, row, column, values...).
  template <class Op, class Value>
  __device__ __forceinline__ Value call(const Op& op, Value accumulator, int row, int column) const {
    constexpr bool is_callable = is_device_callable<Value, const Op&, Value, int, int, typename O::Value...>;
    static_assert(is_callable,
                  "WithOperands: the operation is called as op(accumulator, int row, int column, the value "
                  "of each operand in their order) and returns the accumulator's type; elements of 16 bits "
                  "come as float");
    if constexpr (is_callable)
      return op(accumulator, row, column, OperandValue<I, O>::value...);
    else
      return accumulator;
  }
};

template <std::size_t Index, class O>
struct StoredOperand {
  O operand;
};
template <class Operands, class Indices = typename Operands::Indices>
struct StoredOperands;
template <class... O, std::size_t... I>
struct StoredOperands<EpilogueOperands<O...>, std::index_sequence<I...>> : StoredOperand<I, O>... {
  constexpr StoredOperands(const O&... operands) : StoredOperand<I, O>{operands}... {}
  // Where a value comes from.
  template <class Value>
  __device__ __forceinline__ const typename Value::Operand& of(const Value&) const {
    return StoredOperand<Value::index, typename Value::Operand>::operand;
  }
  // visit(operand, number) for each operand; number: its place in the list, from 1 on.
  template <class Visit>
  void for_each(const Visit& visit) const {
    (visit(StoredOperand<I, O>::operand, static_cast<int>(I) + 1), ...);
  }
  // visit(operand) for the matrix, if there is one.
  template <class Visit>
  void for_matrix(const Visit& visit) const {
    const auto if_matrix = [&](const auto& operand) {
      if constexpr (std::decay_t<decltype(operand)>::kind == OperandKind::matrix) visit(operand);
    };
    (if_matrix(StoredOperand<I, O>::operand), ...);
  }
};

template <class Op>
struct LoadedOperands;

// The operation of a kernel type: `Op`, and where its operands are.
template <class Op, class Operands_ = typename OperandsOf<Op>::type>
struct WithOperands;
template <class Op, class... O>
struct WithOperands<Op, EpilogueOperands<O...>> {
  using Operands = EpilogueOperands<O...>;
  Op op;
  StoredOperands<Operands> operands;
  // Set by the plan of a launch: whether TMA loads the matrix, and its map, of boxes of an epilogue subtile.
  bool matrix_has_map = false;
  TensorMap matrix_map{};

  constexpr WithOperands(const Op& operation, const O&... o) : op(operation), operands(o...) {}

  __device__ __forceinline__ LoadedOperands<Op> loaded() const { return {this}; }
};

// Stands for an operation where a program knows nothing but its operands.
template <class Operands_>
struct UnknownOperation {
  using Operands = Operands_;
};

template <class Op>
inline constexpr bool has_operands = false;
template <class Op>
inline constexpr bool has_operands<WithOperands<Op>> = true;

// The same in a kernel: a pointer to its argument. Nothing is loaded before it is used, since registers are
// few while a warpgroup multiplies.
template <class Op>
struct LoadedOperands {
  using Source = WithOperands<Op>;
  using Operands = typename Source::Operands;
  using Values = OperandValues<Operands>;
  const Source* source;

  __device__ __forceinline__ const Op& op() const { return source->op; }
  // visit(value, operand) for each of the values.
  template <class Visit>
  __device__ __forceinline__ void for_each(Values& values, const Visit& visit) const {
    values.for_each([&](auto& of_operand) { visit(of_operand.value, source->operands.of(of_operand)); });
  }

  // As any operation, of any element of C. What adjacent calls load alike, the compiler loads once.
  template <class Value>
  __device__ __forceinline__ Value operator()(Value accumulator, int row, int column) const {
    Values values;
    for_each(values, [&](auto& value, const auto& operand) { value = load_operand(operand, row, column); });
    return values.call(op(), accumulator, row, column);
  }
};

}  // namespace tenon
