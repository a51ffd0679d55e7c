// Text from outside: files of bounded size, and quotations of bounded length.
#pragma once

#include <string>

namespace tenon::command {

// The bytes of a file. Throws Failure(bad_input) with a sentence that starts with the path: it cannot be
// read, or has more than largest_file (host/read_file.hpp).
std::string read_text(const std::string& path);

// What a sentence quotes of the text: all of it, or its beginning and "...".
std::string shortened(const std::string& text);

}  // namespace tenon::command
