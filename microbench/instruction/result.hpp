// One measured case, as stored and printed. scripts/tenon_results reads the files: an object with the fields
// that all results share, and `results`, an array with one object a line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "microbench/instruction/figures.hpp"
#include "microbench/instruction/runner.hpp"

namespace tenon::microbench::instruction {

// The fields that all results of a run share.
struct Origin {
  std::string commit, machine, toolkit, date;
};

// The name, which contains family, kernel, measure and axes, and the figures.
nlohmann::ordered_json to_json(const Case& test, const Measurement& measurement);

std::string table_header();
// One line: the name and the figures, or the sentence that says why they are invalid.
std::string table_row(const Case& test, const Measurement& measurement);

// Complete after every result, since a later case may end the program. Throws Failure.
class ResultFile {
 public:
  ResultFile(std::string path, Origin origin)  // "" writes nothing
      : path_(std::move(path)), origin_(std::move(origin)) {}
  void add(const nlohmann::ordered_json& result);

 private:
  std::string path_;
  Origin origin_;
  bool empty_ = true;
};

}  // namespace tenon::microbench::instruction
