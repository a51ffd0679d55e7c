// Reads whole text files: tuning tables, and the inputs of the commands.
#pragma once

#include <cstddef>
#include <string>

#include "tenon/status.hpp"

namespace tenon {

// More than any valid file has. The limit keeps an endless file (a device, a pipe) from filling the memory.
constexpr std::size_t largest_file = std::size_t{64} << 20;

// The bytes of a file. invalid_argument, with a sentence that starts with the path, if the file cannot be
// read or has more than largest_file bytes. Throws std::bad_alloc.
Status read_file(const char* path, std::string* text);

}  // namespace tenon
