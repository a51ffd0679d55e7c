// How every command prints its answer for scripts.
#pragma once

#include <iostream>
#include <nlohmann/json.hpp>

namespace tenon::command {

// indent -1: all on one line. JSON is UTF-8 but a path need not be: bytes that are no UTF-8 become U+FFFD,
// for an answer that was worked for shall not be lost to the name of a file.
inline void print_json(const nlohmann::ordered_json& json, int indent = 2) {
  std::cout << json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

}  // namespace tenon::command
