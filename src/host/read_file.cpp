// read_file() reads block by block, since only regular files have a size.
#include "host/read_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tenon {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

Status unreadable(const char* path, int error) noexcept {
  return Status(StatusCode::invalid_argument, "%.150s: cannot be read: %s", path,
                error == EISDIR ? "it is a folder" : std::strerror(error));
}

}  // namespace

Status read_file(const char* path, std::string* text) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path, "rb"));
  if (file == nullptr) return unreadable(path, errno);
  char block[1 << 14];
  for (;;) {
    const std::size_t count = std::fread(block, 1, sizeof block, file.get());
    if (std::ferror(file.get()) != 0) return unreadable(path, errno);
    text->append(block, count);
    if (text->size() > largest_file) {
      return Status(StatusCode::invalid_argument, "%.150s: it has more than the %zu bytes that it may have",
                    path, largest_file);
    }
    if (count < sizeof block) return {};
  }
}

}  // namespace tenon
