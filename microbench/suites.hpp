// The named sets of cases whose results are committed: one name, one command, one file under results/.
#pragma once

#include <string>
#include <vector>

namespace tenon::microbench {

// A suite is what the options of tenon_gemm_benchmark would be: text that cases.hpp parses.
struct Suite {
  std::string name;
  std::string what;  // a line for --help
  std::string shapes, types, layouts;
  bool best;  // what gemm() selects, else every kernel
  bool sustained;
};

const std::vector<Suite>& suites();

// Null: there is none of that name.
const Suite* find_suite(const std::string& name);

}  // namespace tenon::microbench
