// What every host function of tenon returns: a code for programs and a sentence for people.
//
// A Status holds its sentence by value (no allocation, no static buffer) and never throws. The sentence names
// the value found and the value needed: "lda is 100 but row-major A with k = 128 needs lda >= 128".
#pragma once

#include "tenon/needs_host.hpp"

#include <cstdarg>
#include <cstdio>

namespace tenon {

enum class StatusCode {
  ok = 0,
  invalid_argument,     // the problem itself is wrong: negative size, null pointer, short leading dimension,
                        // overlap
  unsupported,          // a valid problem that no kernel of this library (or not the named one) computes
  device_unsupported,   // this machine cannot: no device, no driver, no such architecture, a refused launch
  workspace_too_small,  // call again with at least the bytes that the sentence names
  cuda_error,           // the CUDA runtime (or the emulator) reported an error; the sentence carries its text
};

class Status {
 public:
  // Writes the end of the empty sentence alone: a call of gemm() makes dozens of these.
  Status() noexcept { message_[0] = '\0'; }

  // printf-style: Status(StatusCode::invalid_argument, "m is %lld but must be >= 0", m)
#if defined(__GNUC__)
  __attribute__((format(printf, 3, 4)))
#endif
  Status(StatusCode code, const char* format, ...) noexcept
      : code_(code) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message_, sizeof message_, format, arguments);
    va_end(arguments);
  }

  explicit operator bool() const noexcept {
    return code_ == StatusCode::ok;
  }
  StatusCode code() const noexcept {
    return code_;
  }
  const char* message() const noexcept {
    return message_;
  }  // "" when ok

 private:
  StatusCode code_ = StatusCode::ok;
  char message_[256];
};

}  // namespace tenon
