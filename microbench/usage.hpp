// How the measuring programs end when their options are wrong, or no GPU is there to measure on: a sentence
// that begins with the program's name, and an exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "tenon/gemm/no_cuda_device.hpp"

namespace tenon::microbench {

// For what app.parse() throws: 0 after --help, else 2.
inline int exit_of(CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  std::fprintf(stderr, "%s: %s; see --help\n", app.get_name().c_str(), error.what());
  return 2;
}

// Whether a GPU is there; says why if none is.
inline bool has_gpu(const char* program) {
  int devices = 0;
  const Status s = count_cuda_devices(&devices);
  if (!s) std::fprintf(stderr, "%s: needs a GPU: %s\n", program, s.message());
  return static_cast<bool>(s);
}

}  // namespace tenon::microbench
