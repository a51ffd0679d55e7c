// What NVRTC compiles, and what it makes of it. Host code.
#pragma once

#include "tenon/needs_host.hpp"

#include <string>
#include <vector>

namespace tenon::jit {

struct Program {
  std::string source;
  std::string architecture;          // "sm_90a"
  std::vector<std::string> kernels;  // name expressions, as the source would spell them
  std::vector<std::string> options;  // beside the architecture and the folders
  std::vector<std::string> include_folders;
};

struct Cubin {
  std::string bytes;
  std::vector<std::string> symbols;  // of the kernels, in their order
};

}  // namespace tenon::jit
