// The name of a C++ type as a source may spell it, for kernels of a type that the program has. Host code,
// with the C++ ABI of GCC and Clang.
#pragma once

#include "tenon/needs_host.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <string>
#include <typeinfo>

namespace tenon::jit {

// Every alias resolved: "tenon::TileShape<128, 192, 64>".
template <class T>
std::string type_name() {
  int failed = 0;
  char* const name = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &failed);
  std::string text = failed == 0 ? name : "";
  std::free(name);
  return text;
}

}  // namespace tenon::jit
