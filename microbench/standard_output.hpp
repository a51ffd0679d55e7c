// Standard output, of which nothing shall be lost in silence: a full disk or a closed descriptor is an error
// of the program.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

namespace tenon::microbench {

// Where a program was started with a closed standard descriptor, the next file that it opens would take the
// number, and get the text that was meant for people. To be called first in main(); writing still fails.
inline void keep_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF && ::open("/dev/null", O_RDONLY) < 0) return;
  }
}

// Writes what is still held back. "" if all that was ever printed arrived, else the sentence to end with.
inline std::string lost_standard_output() {
  errno = 0;
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (arrived) return "";
  return std::string("standard output cannot be written") +
         (errno != 0 ? std::string(": ") + std::strerror(errno) : "");
}

}  // namespace tenon::microbench
