// How the measuring programs end when their options are wrong, or no GPU is there to measure on: a sentence
// that begins with the program's name, and an exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "tenon/gemm/no_cuda_device.hpp"

namespace tenon::microbench {

// app.parse(), which drops what is empty between two commas of a list: 5,,1 would be two values. Throws
// CLI::ParseError for such a list too.
inline void parse(CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i], name = argument.substr(0, argument.find('='));
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option == nullptr || option->get_delimiter() != ',') continue;
    const bool is_next = name == argument;
    const std::string list = !is_next ? argument.substr(name.size() + 1) : i + 1 < argc ? argv[i + 1] : "";
    if (!list.empty() && ("," + list + ",").find(",,") != std::string::npos)
      throw CLI::ValidationError(name, "'" + list + "' must have a value on each side of a comma");
  }
  app.parse(argc, argv);
}

// For what parse() throws: 0 after --help, else 2.
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
