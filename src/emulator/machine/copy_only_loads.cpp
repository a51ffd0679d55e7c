#include "emulator/machine/copy_only_loads.hpp"

#include <algorithm>
#include <array>

#include "emulator/machine/registers_of.hpp"

namespace tenon::emulator {
namespace {

bool has(const ptx::Instruction& instruction, const char* modifier) {
  const auto& all = instruction.modifiers;
  return std::find(all.begin(), all.end(), modifier) != all.end();
}

// Whether the instruction's other operands affect nothing but the register in operand 0.
bool is_bitwise(const ptx::Instruction& instruction) {
  static const std::array<const char*, 9> opcodes = {"mov", "and", "or",  "xor", "not",
                                                     "shl", "shr", "bfi", "prmt"};
  return std::find(opcodes.begin(), opcodes.end(), instruction.opcode) != opcodes.end() &&
         instruction.operands.size() > 1 &&
         std::holds_alternative<ptx::Register>(instruction.operands[0].value);
}

bool stores_to_variable(const ptx::Instruction& instruction) {
  return instruction.opcode == "st" && instruction.operands.size() == 2 && !has(instruction, "global") &&
         !has(instruction, "shared") && !has(instruction, "shared::cta") &&
         !has(instruction, "shared::cluster") && !has(instruction, "async");
}

}  // namespace

std::vector<bool> copy_only_loads(const ptx::Function& function) {
  std::vector<bool> only_copied(function.registers.size(), true);
  bool has_changed = true;
  const auto decides = [&](const ptx::Register& reg) {
    has_changed = has_changed || only_copied[static_cast<std::size_t>(reg.index)];
    only_copied[static_cast<std::size_t>(reg.index)] = false;
  };
  const auto is_only_copied = [&](const ptx::Operand& operand) {
    bool all = true;
    visit_registers(operand, [&](const ptx::Register& reg) {
      all = all && only_copied[static_cast<std::size_t>(reg.index)];
    });
    return all;
  };
  for (bool is_first = true; has_changed; is_first = false) {
    has_changed = false;
    for (const ptx::Instruction& instruction : function.body) {
      const bool bitwise = is_bitwise(instruction);
      if (!bitwise && !is_first) continue;  // the answer is the same each time
      if (instruction.guard) decides(*instruction.guard);
      const bool is_load = instruction.opcode == "ld", is_store = stores_to_variable(instruction);
      if (bitwise && is_only_copied(instruction.operands[0])) continue;
      for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
        const bool is_target = i == 0 && (bitwise || is_load);
        if (!is_target && !(is_store && i == 1)) visit_registers(instruction.operands[i], decides);
      }
    }
  }
  std::vector<bool> result;
  for (const ptx::Instruction& instruction : function.body) {
    const bool is_load = instruction.opcode == "ld" && !instruction.operands.empty();
    result.push_back(is_load && is_only_copied(instruction.operands[0]));
  }
  return result;
}

}  // namespace tenon::emulator
