// OutputFile of npy.hpp, on POSIX: a temporary neighbour that is renamed when it is complete.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "command_line/exit_status.hpp"
#include "command_line/npy.hpp"

namespace tenon::command {

OutputFile::OutputFile(const std::string& path) : path_(path) {
  // Through a symbolic link the file behind it is replaced, not the link.
  if (char* real = ::realpath(path.c_str(), nullptr)) {
    path_ = real;
    std::free(real);
  }
  struct ::stat status {};
  if (::stat(path_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw Failure(Exit::bad_input, path + ": cannot be written: it is a folder");
    if (!S_ISREG(status.st_mode))
      throw Failure(Exit::bad_input, path + ": cannot be written: it is not a regular file");
    if (::access(path_.c_str(), W_OK) != 0) {
      throw Failure(Exit::bad_input, path + ": cannot be written: " + std::strerror(errno));
    }
  }
  const mode_t mode = 0666;  // less the umask, as any new file
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = path_ + "." + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ < 0 && (errno != EEXIST || attempt == 100)) {
      throw Failure(Exit::bad_input, path + ": cannot be written: " + std::strerror(errno));
    }
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void OutputFile::fail(const char* action, int error) {
  throw Failure(Exit::machine_cannot, path_ + ": cannot be " + action + ": " + std::strerror(error));
}

void OutputFile::write(const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, at, std::min<std::size_t>(bytes, std::size_t{1} << 30));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("written", errno);
    }
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void OutputFile::commit() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("written", errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("renamed into place", errno);
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace tenon::command
