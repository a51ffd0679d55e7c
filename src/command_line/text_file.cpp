#include "command_line/text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "command_line/exit_status.hpp"

namespace tenon::command {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

}  // namespace

std::string read_text(const std::string& path) {
  const auto unreadable = [&path](int error) {
    refuse(path + ": cannot be read: " + (error == EISDIR ? "it is a folder" : std::strerror(error)));
  };
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) unreadable(errno);
  std::string text;
  char block[1 << 14];
  for (;;) {
    const std::size_t count = std::fread(block, 1, sizeof block, file.get());
    if (std::ferror(file.get()) != 0) unreadable(errno);
    text.append(block, count);
    if (text.size() > largest_text)
      refuse(path + ": it has more than the " + std::to_string(largest_text) + " bytes that it may have");
    if (count < sizeof block) return text;
  }
}

std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 60;
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

}  // namespace tenon::command
