// The kernels in a file of PTX that nvcc wrote, one by one: what PtxKernel
// (emulator/instructions/run_ptx.hpp) takes. So a test can run one kernel of CUDA C++, in the emulator or on
// a GPU, without the time to parse all the others.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace tenon {

struct PtxEntry {
  std::string parameters, body;  // between "(" and ")", and between "{" and "}"
};

// By name. An entry is ".visible .entry NAME(parameters)", directives, and "{" to "}" at the start of lines.
// Kernels that call functions or use variables of the module are not for this.
inline std::map<std::string, PtxEntry> ptx_entries(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream read;
  read << file.rdbuf();
  const std::string text = read.str(), begins = ".visible .entry ";
  std::map<std::string, PtxEntry> found;
  for (std::size_t at = text.find(begins); at != std::string::npos; at = text.find(begins, at)) {
    at += begins.size();
    const std::size_t open = text.find('(', at), close = text.find("\n)", open);
    const std::size_t body = text.find("\n{\n", close), end = text.find("\n}\n", body);
    found[text.substr(at, open - at)] = {text.substr(open + 1, close - open - 1),
                                         text.substr(body + 2, end - body - 2)};
  }
  return found;
}

}  // namespace tenon
