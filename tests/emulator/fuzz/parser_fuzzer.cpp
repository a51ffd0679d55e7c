// libFuzzer's entry to parse_anything. See CMakeLists.txt for how to run it.
#include <cstdint>

#include "emulator/fuzz/anything.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tenon::emulator::fuzz::parse_anything(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
