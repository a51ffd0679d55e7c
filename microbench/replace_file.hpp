// Files of results: replaced completely or not at all, and checked for being writable before anything is
// measured.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace tenon::microbench {

// Returns false, with errno set, if the file cannot be written.
inline bool write_all(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

inline std::string cannot_be_written(const std::string& path, int error) {
  return "'" + path + "' cannot be written" + (error != 0 ? std::string(": ") + std::strerror(error) : "");
}

// Replaces the file by the text: writes a temporary file beside it and renames that, so that a full disk or a
// signal does not destroy the old content. Returns "", or the sentence that says why the file cannot be
// written. Writes in place what has no folder to write to: a pipe, /dev/stdout, a dangling link, a file in a
// folder without write permission.
inline std::string replace_file(const std::string& path, const std::string& text) {
  namespace files = std::filesystem;
  std::error_code error;
  files::path target = files::canonical(path, error);  // a link stays; its target is replaced
  if (error) target = path;
  const files::file_status status = files::symlink_status(target, error);
  const std::string neighbour = target.string() + "." + std::to_string(::getpid()) + ".tmp";
  bool in_place = files::exists(status) && !files::is_regular_file(status);
  errno = 0;
  if (!in_place && ::access(target.parent_path().empty() ? "." : target.parent_path().c_str(), W_OK) != 0)
    in_place = true;
  if (in_place) return write_all(path, text) ? "" : cannot_be_written(path, errno);
  bool written = write_all(neighbour, text);
  if (written && files::exists(status)) files::permissions(neighbour, status.permissions(), error);
  written = written && std::rename(neighbour.c_str(), target.c_str()) == 0;
  if (written) return "";
  const int why = errno;
  std::remove(neighbour.c_str());
  return cannot_be_written(path, why);
}

// The same check in advance, without changing an existing file or leaving a new one.
inline std::string unwritable(const std::string& path) {
  namespace files = std::filesystem;
  std::error_code error;
  const files::file_status status = files::status(path, error);
  if (files::exists(status) && !files::is_directory(status))  // opening a pipe would wait for its reader
    return ::access(path.c_str(), W_OK) == 0 ? "" : cannot_be_written(path, errno);
  std::FILE* file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) return cannot_be_written(path, errno);
  std::fclose(file);
  // The path may be a dangling link, whose target was just created.
  const files::path made = files::canonical(path, error);
  if (!error) files::remove(made, error);
  return "";
}

}  // namespace tenon::microbench
