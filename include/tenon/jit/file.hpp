// Files of the cubin cache and of headers: read whole, and written so that nobody sees a half of one. POSIX.
// Host code.
#pragma once

#include "tenon/needs_host.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace tenon::jit {

inline bool is_folder(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

// 0, or the errno of what failed; ENOENT where there is none.
inline int read_file(const std::string& path, std::string* text) {
  text->clear();
  if (is_folder(path)) return EISDIR;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return errno;
  char piece[1 << 14];
  std::size_t count;
  while ((count = std::fread(piece, 1, sizeof piece, file)) != 0) text->append(piece, count);
  const int error = std::ferror(file) != 0 ? EIO : 0;
  std::fclose(file);
  return error;
}

// Makes the folder and those above it, for this user alone: who may write into a cache decides what runs.
inline int make_folders(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (!is_folder(part) && mkdir(part.c_str(), 0700) != 0) {
      const int error = errno;  // EEXIST: a file, or a folder that another process has made
      if (!is_folder(part)) return error == EEXIST ? ENOTDIR : error;
    }
    if (at == std::string::npos) return 0;
  }
}

// Writes the file under a name of its own and then renames it: readers, and writers of the same file in other
// processes, see the old file, no file, or the whole new one. 0, or the errno of what failed.
inline int replace_file(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return errno;
  int error = 0;
  for (std::string_view left = text; !left.empty() && error == 0;) {
    const ssize_t written = write(descriptor, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) unlink(temporary.c_str());
  return error;
}

}  // namespace tenon::jit
