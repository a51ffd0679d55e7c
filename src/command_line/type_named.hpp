// The type that an option names.
#pragma once

#include <string>

#include "tenon/gemm.hpp"

namespace tenon::command {

// The name is one of those that name() gives: the option was checked for it.
inline Type type_named(const std::string& text) {
  for (const Type type : all_types) {
    if (text == name(type)) return type;
  }
  return Type::f32;
}

}  // namespace tenon::command
