// Checks of standard output: a full disk or a closed descriptor is an error of the program, not silence.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

namespace tenon::microbench {

// If a program starts with a closed standard descriptor, the next file that it opens gets that
// number, and the text meant for the user. Call this first in main(); writing to the descriptor still fails.
inline void keep_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF && ::open("/dev/null", O_RDONLY) < 0) return;
  }
}

// Flushes standard output. "" if everything ever printed arrived, else the sentence to print at exit.
inline std::string lost_standard_output() {
  errno = 0;
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (arrived) return "";
  return std::string("standard output cannot be written") +
         (errno != 0 ? std::string(": ") + std::strerror(errno) : "");
}

}  // namespace tenon::microbench
