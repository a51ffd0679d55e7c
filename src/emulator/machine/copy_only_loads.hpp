// Finds loads whose values are only copied to memory. Compilers copy whole structs, padding included, and set
// a bit field by rewriting its word. So unwritten bytes of a local variable may be copied to another variable
// without a fault, as in C++.
#pragma once

#include "emulator/ptx/module.hpp"

namespace tenon::emulator {

// One flag per instruction of the body. True: a ld whose results, and what bitwise instructions make of them,
// are only stored by st to memory other than .global and .shared.
std::vector<bool> copy_only_loads(const ptx::Function& function);

}  // namespace tenon::emulator
