// Numbers as findings and refusals write them.
#pragma once

#include <cstdint>
#include <string>

namespace tenon::emulator {

// "0x7f", with at least `digits` digits.
inline std::string hex(std::uint64_t value, int digits = 1) {
  std::string text;
  for (; value != 0 || digits > 0; value >>= 4, --digits)
    text.insert(text.begin(), "0123456789abcdef"[value & 15]);
  return "0x" + text;
}

// "The rank is 7 but must be from 1 to 5."
template <class Integer>
std::string is_but(const std::string& what, Integer found, const std::string& needed) {
  return what + " is " + std::to_string(found) + " but " + needed + ".";
}

}  // namespace tenon::emulator
