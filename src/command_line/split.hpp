// The parts of a text between separators.
#pragma once

#include <string>
#include <vector>

namespace tenon::command {

// One part more than there are separators; parts may be empty.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}  // namespace tenon::command
