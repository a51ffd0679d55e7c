// The type that an option names.
#pragma once

#include <string>

#include "tenon/gemm.hpp"

namespace tenon::command {

// name: one that name() returns, since the option has been checked.
inline Type type_named(const std::string& text) {
  for (const Type type : all_types) {
    if (text == name(type)) return type;
  }
  return Type::f32;
}

}  // namespace tenon::command
