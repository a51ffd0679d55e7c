// The named sets of cases whose results are committed: one name, one command, one file under results/.
#pragma once

#include <string>
#include <vector>

#include "microbench/ways.hpp"

namespace tenon::microbench {

// A suite holds values of tenon_gemm_benchmark's options, as text that cases.hpp parses.
struct Suite {
  std::string name;
  std::string what;  // a line for --help
  std::string shapes, types, layouts;
  bool best;  // only the kernel that gemm() selects, else every kernel
  Ways ways;
};

const std::vector<Suite>& suites();

// nullptr if there is none of that name.
const Suite* find_suite(const std::string& name);

}  // namespace tenon::microbench
