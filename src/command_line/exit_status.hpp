// How the command ends, and how anything inside it says that it cannot go on.
#pragma once

#include <stdexcept>
#include <string>

#include "tenon/status.hpp"

namespace tenon::command {

// The contract with scripts.
enum class Exit : int {
  ok = 0,             // done and, where asked, checked to be correct
  wrong_result = 1,   // the result is beyond its error bound, or the emulator found a fault in the kernel
  bad_input = 2,      // bad usage or input
  machine_cannot = 3  // the request is fine, but not on this machine
};

// The code of an error in JSON.
inline const char* name_of(Exit status) noexcept {
  switch (status) {
    case Exit::ok:
      return "ok";
    case Exit::wrong_result:
      return "wrong_result";
    case Exit::bad_input:
      return "bad_input";
    case Exit::machine_cannot:
      break;
  }
  return "machine_cannot";
}

// Thrown with one sentence for people; main() prints it to stderr, with --json to stdout too, and exits with
// the status.
class Failure : public std::runtime_error {
 public:
  Failure(Exit status, const std::string& sentence) : std::runtime_error(sentence), status_(status) {}
  Exit status() const noexcept { return status_; }

 private:
  Exit status_;
};

[[noreturn]] inline void refuse(const std::string& sentence) {
  throw Failure(Exit::bad_input, sentence);
}

// A Status that is not ok becomes a Failure: the problem's fault is bad input, anything else the machine's.
inline void require(const Status& status) {
  if (status) return;
  const bool input =
      status.code() == StatusCode::invalid_argument || status.code() == StatusCode::unsupported;
  throw Failure(input ? Exit::bad_input : Exit::machine_cannot, status.message());
}

}  // namespace tenon::command
