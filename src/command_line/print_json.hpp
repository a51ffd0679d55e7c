// How every command prints its answer for scripts: one JSON document on standard output, also where it fails.
#pragma once

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "command_line/exit_status.hpp"

namespace tenon::command {

// JSON is UTF-8 but a path need not be: bytes that are not UTF-8 become U+FFFD, so that a name of a file
// cannot cost the answer.
inline std::string json_text(const nlohmann::ordered_json& json, int indent = 2) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// The answer of the command that runs, until main() knows whether it failed.
struct JsonAnswer {
  nlohmann::ordered_json json;
  int indent;
};
inline std::optional<JsonAnswer>& json_answer() {
  static std::optional<JsonAnswer> answer;
  return answer;
}

// Keeps the answer for main() to print. indent -1: all on one line.
inline void print_json(nlohmann::ordered_json json, int indent = 2) {
  json_answer() = {std::move(json), indent};
}

// Prints the answer of a command that succeeded, if it has one.
inline void print_json_answer() {
  if (json_answer()) std::cout << json_text(json_answer()->json, json_answer()->indent);
  json_answer().reset();
}

// Prints {"error": {"code", "message"}}, in the answer where there is one: a wrong result has both. message:
// the first line of the sentence; what follows is advice for people.
inline void print_json_error(Exit status, const std::string& sentence) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (json_answer() && json_answer()->json.is_object()) json = std::move(json_answer()->json);
  json_answer().reset();
  json["error"] = {{"code", name_of(status)}, {"message", sentence.substr(0, sentence.find('\n'))}};
  std::cout << json_text(json);
}

}  // namespace tenon::command
