// Which kernel of a module a name means: as PTX spells it, as C++ spells it, or a part of either.
#pragma once

#include <string>

#include "emulator/ptx/module.hpp"

namespace tenon::emulator::ptx {

// As C++ spells a name that its compiler has mangled; other names as they are.
std::string demangled(const std::string& name);

// The defined entry that the name means. The first of these that any entry fits decides:
//   1. its name in the PTX text, `_ZN2ns5scaleIfEEvPT_`
//   2. its C++ name, `ns::scale<float>`, or that with its parameters, `ns::scale<float>(float*)`
//   3. the end of its C++ name, with or without template arguments: `scale<float>`, `ns::scale`, `scale`
//   4. a part of one of its names
// Spaces make no difference to C++ names. Throws std::invalid_argument, with a sentence that lists the
// candidates, if none or several fit.
const Function& entry_named(const Module& module, const std::string& name);

}  // namespace tenon::emulator::ptx
