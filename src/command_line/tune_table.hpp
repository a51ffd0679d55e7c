// The table that `tenon tune` measures. It is written to the file after each problem, so that neither a later
// failure nor a signal loses what was measured.
#pragma once

#include <string>

#include "host/tuning_table.hpp"

namespace tenon::command {

class TuneTable {
 public:
  // head: a table without entries. path: of the file; "" for none.
  TuneTable(TuningTable head, std::string path);
  // Inserts the entry in order, and writes the file. Throws Failure if it cannot be written.
  void add(TuningEntry entry);
  void write() const;
  bool empty() const noexcept { return table_.entries.empty(); }
  std::string text() const;

 private:
  TuningTable table_;
  std::string path_;
};

}  // namespace tenon::command
