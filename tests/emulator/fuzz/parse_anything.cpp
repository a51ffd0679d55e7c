#include <cstdint>

#include "emulator/fuzz/anything.hpp"
#include "emulator/ptx/module.hpp"

namespace tenon::emulator::fuzz {
namespace {

using namespace ptx;

void check(const Function& function, const Register& reg) {
  need(reg.index >= 0 && reg.index < static_cast<int>(function.registers.size()));
}

void check(const Function& function, const Address& address) {
  if (const auto* reg = std::get_if<Register>(&address.base)) check(function, *reg);
}

void check(const Function& function, const Operand& operand) {
  if (const auto* reg = std::get_if<Register>(&operand.value)) check(function, *reg);
  if (operand.predicate) check(function, *operand.predicate);
  if (const auto* address = std::get_if<Address>(&operand.value)) check(function, *address);
  if (const auto* list = std::get_if<Vector>(&operand.value)) {
    for (const Operand& element : list->elements) check(function, element);
  }
  if (const auto* tensor = std::get_if<TensorAddress>(&operand.value)) {
    check(function, tensor->map);
    for (const Operand& element : tensor->coordinates) check(function, element);
  }
}

void check(const Variable& variable) {
  const std::int64_t size = variable.size();
  need(size >= 0 && static_cast<std::int64_t>(variable.initial.size()) <= size);
  need(variable.alignment > 0 && (variable.alignment & (variable.alignment - 1)) == 0);
  for (const Variable::Address& address : variable.addresses)
    need(address.offset >= 0 && address.offset + address.bytes <= size);
}

void check(const Function& function) {
  for (const auto& [name, index] : function.labels)
    need(index >= 0 && index <= static_cast<int>(function.body.size()));
  for (const auto& [name, targets] : function.branch_targets) need(!name.empty() && !targets.empty());
  for (const Variable& variable : function.variables) check(variable);
  for (const Variable& variable : function.parameters) check(variable);
  for (const Instruction& instruction : function.body) {
    need(!instruction.text().empty() && instruction.line > 0);
    if (instruction.guard) check(function, *instruction.guard);
    for (const Operand& operand : instruction.operands) check(function, operand);
  }
}

}  // namespace

void parse_anything(const std::string& text) {
  try {
    const Module module = parse(text);
    for (const Function& function : module.functions) {
      check(function);
      need(module.find(function.name) != nullptr);
    }
    for (const Variable& variable : module.variables) check(variable);
  } catch (const Error& error) {
    need(error.line >= 0);
  }
}

}  // namespace tenon::emulator::fuzz
