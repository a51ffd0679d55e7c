// read_text() is read_file() of the library, with a Failure for its status.
#include "command_line/text_file.hpp"

#include "command_line/exit_status.hpp"
#include "host/read_file.hpp"

namespace tenon::command {

std::string read_text(const std::string& path) {
  std::string text;
  if (const Status s = read_file(path.c_str(), &text); !s) refuse(s.message());
  return text;
}

std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 60;
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

}  // namespace tenon::command
