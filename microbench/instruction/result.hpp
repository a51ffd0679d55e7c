// One measured case as it is stored and printed. microbench/results/<machine>/instruction/*.json hold arrays
// of these.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "microbench/instruction/figures.hpp"
#include "microbench/instruction/runner.hpp"

namespace tenon::microbench::instruction {

// What is the same for every result of a run.
struct Origin {
  std::string commit, machine, toolkit, date;
};

// What was not measured is null. `loop` holds the opcodes of one trip of the timed loop, as counted in the
// cubin.
nlohmann::ordered_json to_json(const Case& test, const Measurement& measurement, const Origin& origin);

std::string table_header();
// One line: the name and the figures, or the sentence that stands against them.
std::string table_row(const Case& test, const Measurement& measurement);

// Writes an array, one object a line, again after every result: a later case may end the program. Throws
// Failure.
class ResultFile {
 public:
  explicit ResultFile(std::string path) : path_(std::move(path)) {}  // "": nothing is written
  void add(const nlohmann::ordered_json& result);

 private:
  std::string path_;
  bool empty_ = true;
};

}  // namespace tenon::microbench::instruction
