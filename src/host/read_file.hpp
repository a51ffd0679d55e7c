// Text from outside, whole: tuning tables, and what the commands read.
#pragma once

#include <cstddef>
#include <string>

#include "tenon/status.hpp"

namespace tenon {

// Far more than anybody writes; a file that goes on for ever shall not take all memory.
constexpr std::size_t largest_file = std::size_t{64} << 20;

// The bytes of a file. invalid_argument, with a sentence that starts with the path: it cannot be read, or has
// more than largest_file. Throws std::bad_alloc.
Status read_file(const char* path, std::string* text);

}  // namespace tenon
