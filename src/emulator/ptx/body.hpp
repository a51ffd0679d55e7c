// The contents of a function's braces: declarations, labels, instructions, nested scopes.
#pragma once

#include "emulator/ptx/cursor.hpp"
#include "emulator/ptx/scope.hpp"

namespace tenon::emulator::ptx {

// From the opening brace to its closing one.
void body(Cursor& cursor, FunctionNames& names, Function& function, Module& module,
          ModuleNames& module_names);

// Parameters or results in brackets, declared in the innermost open scope.
void add_parameters(Cursor& cursor, FunctionNames& names, Function& function, std::vector<Variable>& list,
                    const std::string& what);

}  // namespace tenon::emulator::ptx
