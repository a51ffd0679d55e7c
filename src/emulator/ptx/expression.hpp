// Constant expressions (PTX ISA 4.5): 64-bit integers, signed or unsigned, and f64.
#pragma once

#include "emulator/ptx/cursor.hpp"

namespace tenon::emulator::ptx {

// A whole expression, with all operators of C except assignment.
Constant constant_expression(Cursor& cursor);
// One that must be an integer; where: "an array's length".
std::int64_t integer_expression(Cursor& cursor, const std::string& what);
// The terms after the base of an address: any number of `+ term` and `- term`; 0 if there are none.
std::int64_t addend(Cursor& cursor);
// Whether an expression can begin here: a number, WARP_SZ, a sign, a bracket.
bool at_expression(const Cursor& cursor);

Immediate immediate(const Constant& constant);

}  // namespace tenon::emulator::ptx
