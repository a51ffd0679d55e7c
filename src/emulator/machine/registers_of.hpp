// The registers in an operand, for analyses of a function's text.
#pragma once

#include "emulator/ptx/module.hpp"

namespace tenon::emulator {

// Calls visit(ptx::Register) for each: values, bases of addresses, elements of lists, the second half of d|p.
template <class Visit>
void visit_registers(const ptx::Operand& operand, Visit&& visit) {
  const auto visit_address = [&](const ptx::Address& address) {
    if (const auto* reg = std::get_if<ptx::Register>(&address.base)) visit(*reg);
  };
  if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) visit(*reg);
  if (const auto* address = std::get_if<ptx::Address>(&operand.value)) visit_address(*address);
  if (const auto* list = std::get_if<ptx::Vector>(&operand.value))
    for (const ptx::Operand& element : list->elements) visit_registers(element, visit);
  if (const auto* tensor = std::get_if<ptx::TensorAddress>(&operand.value)) {
    visit_address(tensor->map);
    for (const ptx::Operand& element : tensor->coordinates) visit_registers(element, visit);
  }
  if (operand.predicate) visit(*operand.predicate);
}

}  // namespace tenon::emulator
