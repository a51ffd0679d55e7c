// Arguments and results of calls of functions that the emulator provides itself, such as vprintf. Either may
// be a register or constant, or a .param variable, whose address then stands for it.
#pragma once

#include <variant>

#include "emulator/instructions/lanewise.hpp"
#include "emulator/machine/function_scope.hpp"

namespace tenon::emulator {

// Appends it to op.values. op.bits[0]: bit i is set if values[i] is the address of a .param variable.
inline void push_operand(FunctionScope& functions, Op& op, const ptx::Operand& operand, ptx::Type type) {
  if (std::holds_alternative<ptx::Symbol>(operand.value)) op.bits[0] |= 1U << op.values.size();
  op.values.push_back(functions.value(operand, type));
}

inline std::uint64_t argument_value(Warp& warp, const Op& op, std::size_t index, int lane,
                                    std::uint32_t size) {
  std::uint64_t value = warp.read(op.values[index], lane);
  if ((op.bits[0] >> index & 1) == 0) return value;
  const std::uint64_t address = value;
  value = 0;
  warp.load(lane, ptx::Space::generic, address, &value, size);
  return value;
}

inline void write_result(Warp& warp, const Op& op, std::size_t index, int lane, std::uint64_t value,
                         std::uint32_t size) {
  if ((op.bits[0] >> index & 1) == 0)
    warp.write(op.values[index], lane, value);
  else
    warp.store(lane, ptx::Space::generic, warp.read(op.values[index], lane), &value, size);
}

inline void require_arguments(Decoding& decoding, const char* function,
                              const std::vector<ptx::Operand>& arguments, std::size_t needed) {
  if (arguments.size() != needed)
    decoding.fail(std::to_string(arguments.size()) + " arguments are given where " + function + " has " +
                  std::to_string(needed));
}

}  // namespace tenon::emulator
