// Text from outside: files of bounded size, and quotations of bounded length.
#pragma once

#include <cstddef>
#include <string>

namespace tenon::command {

// Far more than any text that a command reads; a file that goes on for ever shall not take all memory.
constexpr std::size_t largest_text = std::size_t{64} << 20;

// The bytes of a file. Throws Failure(bad_input) with a sentence that starts with the path: it cannot be
// read, or has more than largest_text.
std::string read_text(const std::string& path);

// What a sentence quotes of the text: all of it, or its beginning and "...".
std::string shortened(const std::string& text);

}  // namespace tenon::command
