// The words of PTX that name types, state spaces and special registers.
#pragma once

#include <optional>
#include <string_view>

#include "emulator/ptx/module.hpp"

namespace tenon::emulator::ptx {

// With the dot: ".f32".
std::optional<Type> type_named(std::string_view dotted);
// ".global", ".const", ...; nothing for .reg and for names that are not a state space.
std::optional<Space> space_named(std::string_view dotted);
// "%tid" for %tid and %tid.x alike: PTX ISA 10.
bool is_special_register(std::string_view name);

}  // namespace tenon::emulator::ptx
