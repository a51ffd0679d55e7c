// OutputFile of npy.hpp, on POSIX: a file without a name that gets one when it is complete.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "command_line/exit_status.hpp"
#include "command_line/npy.hpp"

namespace tenon::command {
namespace {

[[noreturn]] void unwritable(const std::string& path, const std::string& why) {
  throw Failure(Exit::bad_input, path + ": cannot be written: " + why);
}

// The folder of a path, without links and dots.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  char* real = ::realpath(folder.c_str(), nullptr);
  if (real == nullptr) return "";
  std::string result = real;
  std::free(real);
  return result == "/" ? result : result + "/";
}

// Follows symbolic links: their target is written, whether it exists or not, and the links stay.
std::string target_of_links(const std::string& given) {
  std::string path = given;
  for (int links = 0; links < 40; ++links) {  // as many as the system follows
    const std::string folder = folder_of(path);
    if (folder.empty()) unwritable(given, std::strerror(errno));
    // /dev/stdout leads here. Its file is open, and replacing it would take it from the programs that write
    // to it.
    if (folder.compare(0, 6, "/proc/") == 0)
      unwritable(given, "it refers to an open file, but the output needs its own path");
    const std::string name = path.substr(path.rfind('/') + 1);
    path = folder;
    path += name;
    char target[4096];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length < 0) return path;
    const std::string to(target, static_cast<std::size_t>(length));
    path = to[0] == '/' ? to : folder + to;
  }
  unwritable(given, std::strerror(ELOOP));
}

bool is_same_file(const struct ::stat& x, int descriptor) {
  struct ::stat y {};
  return ::fstat(descriptor, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

// Whether there is a file at the path, and its status. Throws if that file must not be replaced.
bool has_replaceable_file(const std::string& given, const std::string& path, struct ::stat& status) {
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) unwritable(given, std::strerror(errno));
    return false;
  }
  if (S_ISDIR(status.st_mode)) unwritable(given, "it is a folder");
  if (!S_ISREG(status.st_mode)) unwritable(given, "it is not a regular file");
  if (is_same_file(status, STDOUT_FILENO) || is_same_file(status, STDERR_FILENO))
    unwritable(given, "standard output goes there, but the output needs its own path");
  if (::access(path.c_str(), W_OK) != 0) unwritable(given, std::strerror(errno));
  return true;
}

std::string name_beside(const std::string& path, int attempt) {
  return path.substr(0, path.rfind('/') + 1) + "tenon-" + std::to_string(::getpid()) + "-" +
         std::to_string(attempt) + ".tmp";
}

// A new file beside the path, and its name.
int create_beside(const std::string& path, std::string& name) {
  for (int attempt = 0;; ++attempt) {
    name = name_beside(path, attempt);
    const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST || attempt == 100) return descriptor;
  }
}

// A file without a name in the folder of the path. It is gone when it is closed, so a signal leaves no file
// behind. It has the permissions of a new file: 0666 without the umask.
int create_nameless(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  if (const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666); descriptor >= 0)
    return descriptor;
  std::string name;  // a file system that knows no such files, or does not let us write
  const int descriptor = create_beside(path, name);
  if (descriptor >= 0) ::unlink(name.c_str());
  return descriptor;
}

// 0, or what went wrong.
int write_all(int descriptor, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, at, std::min<std::size_t>(bytes, std::size_t{1} << 30));
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return 0;
}

int copy_all(int from, int to) {
  std::vector<char> block(std::size_t{1} << 20);
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(from, block.data(), block.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0 ? 0 : errno;
    if (const int error = write_all(to, block.data(), static_cast<std::size_t>(count))) return error;
    at += count;
  }
}

// Gives the file the owner (as far as we may) and the permissions of the file that it replaces.
void copy_owner_and_permissions(int descriptor, const struct ::stat& replaced) {
  if (::fchown(descriptor, replaced.st_uid, replaced.st_gid) != 0 &&
      ::fchown(descriptor, static_cast<uid_t>(-1), replaced.st_gid) != 0) {
    // Then we own the file, like any new file.
  }
  ::fchmod(descriptor, replaced.st_mode & 0777);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : given_(path), path_(target_of_links(path)) {
  struct ::stat replaced {};
  const bool replaces = has_replaceable_file(given_, path_, replaced);
  descriptor_ = create_nameless(path_);
  if (descriptor_ < 0) unwritable(given_, std::strerror(errno));
  if (replaces) copy_owner_and_permissions(descriptor_, replaced);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::fail(const char* action, int error) {
  throw Failure(Exit::machine_cannot, given_ + ": cannot be " + action + ": " + std::strerror(error));
}

void OutputFile::write(const void* data, std::size_t bytes) {
  if (const int error = write_all(descriptor_, data, bytes)) fail("written", error);
}

// A name beside the path: by a link, or where links do not work (no /proc, another file system) by a copy.
std::string OutputFile::name_it() {
  std::string name = name_beside(path_, 0);
  const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
  const int copy = create_beside(path_, name);
  if (copy < 0) fail("written", errno);
  struct ::stat status {};
  if (::fstat(descriptor_, &status) == 0) copy_owner_and_permissions(copy, status);
  int error = copy_all(descriptor_, copy);
  if (error == 0 && ::fsync(copy) != 0 && errno != EINVAL) error = errno;
  ::close(copy);
  if (error == 0) return name;
  ::unlink(name.c_str());
  fail("written", error);
}

void OutputFile::commit() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("written", errno);
  const std::string name = name_it();
  if (std::rename(name.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(name.c_str());
    fail("renamed into place", error);
  }
  ::close(descriptor_);
  descriptor_ = -1;
}

void write_file(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace tenon::command
