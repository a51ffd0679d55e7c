// The operands of an instruction (PTX ISA 6).
#pragma once

#include "emulator/ptx/cursor.hpp"
#include "emulator/ptx/scope.hpp"

namespace tenon::emulator::ptx {

// One register by name, for guards and the second half of d|p.
Register register_operand(Cursor& cursor, const FunctionNames& names, const std::string& needed);

// All operands up to the `;`, which is not consumed.
std::vector<Operand> operands(Cursor& cursor, FunctionNames& names, const std::string& opcode);

}  // namespace tenon::emulator::ptx
