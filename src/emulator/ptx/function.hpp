// Functions and kernels: head, directives, body (PTX ISA 5.5 and 11.2).
#pragma once

#include "emulator/ptx/cursor.hpp"
#include "emulator/ptx/declaration.hpp"
#include "emulator/ptx/scope.hpp"

namespace tenon::emulator::ptx {

// From .func or .entry to the end of the body, or to the `;` of a declaration. Variables that a function
// declares in the module's state spaces (.global, .const, .extern) are added to `module`.
Function function(Cursor& cursor, Module& module, ModuleNames& names);

// Directives that may occur inside functions and outside. Each returns false at any other token.
bool accept_debug_directive(Cursor& cursor, Module& module);  // .file .section
bool accept_pragma(Cursor& cursor);                           // .pragma "nounroll";
// .extern .visible .weak .common, any of them; true for .extern.
bool accept_linkage(Cursor& cursor);

// Adds a variable of the module, or lets it replace its .extern declaration.
void add_variable(Module& module, ModuleNames& names, Variable variable);

}  // namespace tenon::emulator::ptx
