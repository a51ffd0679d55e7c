// Which loads only carry a value on to memory. Compilers copy structs whole, their padding too, and set a bit
// field by changing the word around it: unwritten bytes of a local variable that go no further than into
// another variable are no fault, as they are none in C++.
#pragma once

#include "emulator/ptx/module.hpp"

namespace tenon::emulator {

// One flag for each instruction of the body: a ld whose results decide nothing. All that is ever done with
// them, or with what bitwise instructions make of them, is to store them by st, not to .global or .shared.
std::vector<bool> loads_that_carry(const ptx::Function& function);

}  // namespace tenon::emulator
