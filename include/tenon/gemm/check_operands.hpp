// Whether the operands of an epilogue operation make sense for a product. Host code, apart from
// epilogue_operands.hpp so that kernels need no status.hpp. Below: epilogue_operands.hpp, status.hpp.
#pragma once

#include "tenon/gemm/epilogue_operands.hpp"
#include "tenon/status.hpp"

namespace tenon {

// Whether an operand makes sense for a C with n columns. number: its place in the list, from 1 on.
template <class O>
Status check_operand(const O& operand, int number, std::int64_t n) {
  using T = typename O::Element;
  constexpr StatusCode invalid = StatusCode::invalid_argument;
  constexpr const char* type = tenon::name(TypeOf<T>::value);
  if (operand.data == nullptr)
    return Status(invalid, "operand %d of the epilogue, a %s of %s, is a null pointer", number, O::name,
                  type);
  if (reinterpret_cast<std::uintptr_t>(operand.data) % sizeof(T) != 0)
    return Status(invalid,
                  "operand %d of the epilogue, a %s of %s, is at %p but its elements lie on multiples of %zu "
                  "bytes",
                  number, O::name, type, static_cast<const void*>(operand.data), sizeof(T));
  if constexpr (O::kind == OperandKind::matrix) {
    if (operand.ld < n)
      return Status(invalid, "operand %d of the epilogue, a %s of %s, has ld %lld but needs >= %lld here",
                    number, O::name, type, static_cast<long long>(operand.ld), static_cast<long long>(n));
  }
  return {};
}

// The same for all operands of an operation; the first that makes no sense is named.
template <class Operands>
Status check_operands(const StoredOperands<Operands>& operands, std::int64_t n) {
  Status status;
  operands.for_each([&](const auto& operand, int number) {
    if (status) status = check_operand(operand, number, n);
  });
  return status;
}
template <class Op>
Status check_operands(const WithOperands<Op>& op, std::int64_t n) {
  return check_operands(op.operands, n);
}

}  // namespace tenon
