// What the decoders of asynchronous instructions share: several addresses per instruction, constants, names
// of shared memory, opcodes that belong to two families. Builds on lanewise.hpp's Decoding.
#pragma once

#include <string>

#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {

// An address operand: op.values[value] + offset. (Op::offset serves instructions with one address.)
struct AddressOperand {
  int value = -1;
  std::int64_t offset = 0;

  std::uint64_t of(Warp& warp, const Op& op, int lane) const {
    return warp.read(op.values[static_cast<std::size_t>(value)], lane) + static_cast<std::uint64_t>(offset);
  }
};

inline AddressOperand add_address(Decoding& decoding, const ptx::Operand& operand) {
  Op scratch;
  AddressOperand result;
  const Value base = decoding.scope().address(operand, scratch);
  result.value = static_cast<int>(decoding.op().values.size());
  result.offset = scratch.offset;
  decoding.op().values.push_back(base);
  return result;
}
inline AddressOperand add_address(Decoding& decoding, int operand) {
  return add_address(decoding, decoding.operand(operand));
}

// Appends the operand to op.values and returns its index there.
inline int add_source(Decoding& decoding, int operand, ptx::Type type) {
  decoding.source(operand, type);
  return static_cast<int>(decoding.op().values.size()) - 1;
}

inline std::int64_t immediate(const Decoding& decoding, int operand, const char* what) {
  const auto* value = std::get_if<ptx::Immediate>(&decoding.operand(operand).value);
  if (value == nullptr || value->kind != ptx::Immediate::Kind::integer) {
    decoding.fail(std::string(what) + " must be an integer constant");
  }
  return static_cast<std::int64_t>(value->bits);
}

// Which choice comes first in the opcode: of two state spaces, the first is the destination's.
inline int require_first_of(Decoding& decoding, std::initializer_list<const char*> choices) {
  for (const std::string& modifier : decoding.instruction().modifiers) {
    int index = 0;
    for (const char* choice : choices) {
      if (modifier == choice) {
        decoding.require(choice);
        return index;
      }
      ++index;
    }
  }
  return decoding.require_one(choices);  // fails with a sentence that names the choices
}

// Accepts .L2::cache_hint and its operand, the last one. It has no effect on results. True: it is present.
inline bool accept_cache_hint(Decoding& decoding) {
  return decoding.accept("L2::cache_hint");
}

// Adds a decoder for the instructions of an opcode that `is_mine` selects; the others keep the opcode's
// previous decoder. `Tag` distinguishes the shared opcodes.
template <class Tag>
void share_decoder(Decoders& decoders, const char* opcode, bool (*is_mine)(const ptx::Instruction&),
                   Decoder mine) {
  static Decoder others, own;
  static bool (*picks)(const ptx::Instruction&);
  const Decoder combined = [](const ptx::Instruction& instruction, Scope& scope, Op& op) {
    if (picks(instruction)) return own(instruction, scope, op);
    if (others != nullptr) return others(instruction, scope, op);
    throw ptx::Error(instruction.line, "`" + instruction.text() + "`: the emulator does not know this form");
  };
  const auto found = decoders.find(opcode);
  if (found == decoders.end() || found->second != combined) {
    others = found == decoders.end() ? nullptr : found->second;
  }
  own = mine;
  picks = is_mine;
  decoders[opcode] = combined;
}

inline bool first_modifier_is(const ptx::Instruction& instruction, const char* modifier) {
  return !instruction.modifiers.empty() && instruction.modifiers[0] == modifier;
}

}  // namespace tenon::emulator
